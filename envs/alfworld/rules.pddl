;; ALFWorld's rules (Copyright (c) 2020 Mohit Shridhar and others, MIT licence), without what no
;; action uses. `write_game` puts them into game files, and a digest compares them with those of the
;; files that are read. The comma in examineobject is theirs: it makes that branch never true, which
;; is why only what is held can be examined.
(define (domain alfred)
(:requirements :adl :action-costs :typing)
(:types agent location receptacle object rtype otype)
(:predicates
  (atlocation ?a - agent ?l - location) (receptacleatlocation ?r - receptacle ?l - location)
  (objectatlocation ?o - object ?l - location) (openable ?r - receptacle) (opened ?r - receptacle)
  (inreceptacle ?o - object ?r - receptacle) (isreceptacleobject ?o - object)
  (inreceptacleobject ?innerobject - object ?outerobject - object) (checked ?r - receptacle)
  (receptacletype ?r - receptacle ?t - rtype) (cancontain ?rt - rtype ?ot - otype)
  (objecttype ?o - object ?t - otype) (holds ?a - agent ?o - object) (holdsany ?a - agent)
  (isclean ?o - object) (cleanable ?o - object) (ishot ?o - object) (heatable ?o - object)
  (iscool ?o - object) (coolable ?o - object) (pickupable ?o - object) (toggleable ?o - object)
  (ison ?o - object) (istoggled ?o - object) (sliceable ?o - object) (issliced ?o - object))
(:functions (distance ?from ?to) (total-cost) - number)
(:action look
  :parameters (?a - agent ?l - location)
  :precondition (and (atlocation ?a ?l))
  :effect (and (checked ?l)))
(:action inventory
  :parameters (?a - agent)
  :precondition ()
  :effect (and (checked ?a)))
(:action examinereceptacle
  :parameters (?a - agent ?r - receptacle)
  :precondition (and (exists (?l - location) (and (atlocation ?a ?l) (receptacleatlocation ?r ?l))))
  :effect (and (checked ?r)))
(:action examineobject
  :parameters (?a - agent ?o - object)
  :precondition (or (exists (?l - location, ?r - receptacle) (and (atlocation ?a ?l)
    (receptacleatlocation ?r ?l) (inreceptacle ?o ?r) (or (not (openable ?r)) (opened ?r)))) (holds
    ?a ?o))
  :effect (and (checked ?o)))
(:action gotolocation
  :parameters (?a - agent ?lstart - location ?lend - location ?r - receptacle)
  :precondition (and (atlocation ?a ?lstart) (receptacleatlocation ?r ?lend))
  :effect (and (not (atlocation ?a ?lstart)) (atlocation ?a ?lend) (increase (total-cost) 1)))
(:action openobject
  :parameters (?a - agent ?l - location ?r - receptacle)
  :precondition (and (openable ?r) (atlocation ?a ?l) (receptacleatlocation ?r ?l) (not (opened
    ?r)))
  :effect (and (opened ?r) (checked ?r) (increase (total-cost) 1)))
(:action closeobject
  :parameters (?a - agent ?l - location ?r - receptacle)
  :precondition (and (openable ?r) (atlocation ?a ?l) (receptacleatlocation ?r ?l) (opened ?r))
  :effect (and (not (opened ?r)) (increase (total-cost) 1)))
(:action pickupobject
  :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
  :precondition (and (pickupable ?o) (atlocation ?a ?l) (receptacleatlocation ?r ?l) (inreceptacle
    ?o ?r) (not (holdsany ?a)) (or (not (openable ?r)) (opened ?r)))
  :effect (and (not (inreceptacle ?o ?r)) (holds ?a ?o) (holdsany ?a) (not (objectatlocation ?o ?l))
    (increase (total-cost) 1)))
(:action putobject
  :parameters (?a - agent ?l - location ?o - object ?r - receptacle ?ot - otype ?rt - rtype)
  :precondition (and (holds ?a ?o) (atlocation ?a ?l) (receptacleatlocation ?r ?l) (or (not
    (openable ?r)) (opened ?r)) (objecttype ?o ?ot) (receptacletype ?r ?rt) (cancontain ?rt ?ot))
  :effect (and (inreceptacle ?o ?r) (objectatlocation ?o ?l) (not (holds ?a ?o)) (not (holdsany ?a))
    (increase (total-cost) 1)))
(:action cleanobject
  :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
  :precondition (and (cleanable ?o) (or (receptacletype ?r sinktype) (receptacletype ?r
    sinkbasintype)) (atlocation ?a ?l) (receptacleatlocation ?r ?l) (holds ?a ?o))
  :effect (and (increase (total-cost) 5) (isclean ?o)))
(:action heatobject
  :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
  :precondition (and (heatable ?o) (or (receptacletype ?r microwavetype)) (atlocation ?a ?l)
    (receptacleatlocation ?r ?l) (holds ?a ?o))
  :effect (and (increase (total-cost) 5) (ishot ?o) (not (iscool ?o))))
(:action coolobject
  :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
  :precondition (and (coolable ?o) (or (receptacletype ?r fridgetype)) (atlocation ?a ?l)
    (receptacleatlocation ?r ?l) (holds ?a ?o))
  :effect (and (increase (total-cost) 5) (iscool ?o) (not (ishot ?o))))
(:action toggleobject
  :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
  :precondition (and (toggleable ?o) (atlocation ?a ?l) (receptacleatlocation ?r ?l) (inreceptacle
    ?o ?r))
  :effect (and (increase (total-cost) 5) (when (ison ?o) (not (ison ?o))) (when (not (ison ?o))
    (ison ?o)) (istoggled ?o)))
(:action sliceobject
  :parameters (?a - agent ?l - location ?co - object ?ko - object)
  :precondition (and (sliceable ?co) (or (objecttype ?ko knifetype) (objecttype ?ko
    butterknifetype)) (atlocation ?a ?l) (objectatlocation ?co ?l) (holds ?a ?ko))
  :effect (and (increase (total-cost) 5) (issliced ?co)))
(:action help
  :parameters (?a - agent)
  :precondition ()
  :effect (and (checked ?a))))
