"""A vLLM server as a child of ours: started, watched, brought back, removed without a trace."""
