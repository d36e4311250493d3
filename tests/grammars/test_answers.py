import pytest

from grammars import answers
from grammars.forms import Blank, Closing, Form, text_of
from inference.constraint import matches

AWKWARD = ("it's", 'say "x"', "a\\b", "é 1", "cup", "cup 1", "cup 10", "a, b]", "")


def allows(form: Form, said: list[str]) -> bool:
    """Whether a form takes these answers and then ends."""
    for number, answer in enumerate(said):
        try:
            blank = form.next(said[:number])
        except ValueError:
            return False
        if not isinstance(blank, Blank) or not matches(blank.grammar, answer):
            return False
    return isinstance(form.next(said), Closing)


@pytest.mark.parametrize("option", AWKWARD)
def test_a_list_takes_each_option_once_and_is_read_as_it_was_meant(option: str) -> None:
    form = answers.list_of(AWKWARD)
    rest = [other for other in AWKWARD if other != option][:2]
    said = [f"[{option!r},", f" {rest[0]!r},", f" {rest[1]!r}]"]
    assert allows(form, said)
    assert answers.read_list(text_of(form, said)) == (option, *rest)
    assert not allows(form, [f"[{option!r},", f" {option!r}]"])


def test_a_list_ends_when_nothing_is_left_or_it_is_long_enough() -> None:
    assert allows(answers.list_of(["a", "b"]), ["['a',", " 'b']"])
    assert not allows(answers.list_of(["a", "b"]), ["['a',", " 'b',"])
    assert allows(answers.list_of(["a", "b", "c"], most=2), ["['a',", " 'b']"])
    assert not allows(answers.list_of(["a", "b", "c"], most=2), ["['a',", " 'b',"])
    with pytest.raises(ValueError, match="at least one option"):
        answers.list_of([])


@pytest.mark.parametrize("text", ["[1, 2]", "('a',)", "['a'", "a", "['a', None]", "[" * 5000])
def test_what_is_no_list_of_texts_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        answers.read_list(text)


def test_answers_to_an_answer_that_the_form_never_took_are_refused() -> None:
    with pytest.raises(ValueError, match="in the making"):
        answers.list_of(["a", "b"]).next(["['c',"])


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        (answers.number(), "7", "007"),
        (answers.number(), "10", "a"),
        (answers.number(["2", "12"]), "12", "1"),
        (answers.yes_or_no(), "yes", "Yes"),
        (answers.one_of(["cup 1", "cup 10"]), "cup 10", "cup"),
        (answers.start_from(3), "3", "4"),
        (answers.line(), "soap, I think", "soap\n"),
        (answers.line(), "x", " x"),
        (answers.line(), "x" * answers.LINE_LENGTH, "x" * (answers.LINE_LENGTH + 1)),
        (answers.paragraph(), "I opened every drawer but one.", "I opened every drawer"),
        (answers.paragraph(), "I looked. I found it.", "I looked.\nI found it."),
        (answers.paragraph(), "A" * 699 + ".", "A" * 700 + "."),
    ],
)
def test_a_typed_answer_is_taken_and_a_near_miss_is_not(form: Form, right: str, wrong: str) -> None:
    assert allows(form, [right])
    assert not allows(form, [wrong])
