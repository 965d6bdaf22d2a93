"""Gradient norm and risk against steps, batch, λ and β, beside the rates of both papers."""

QUESTION = "Do StableAP and SOPRC converge at the rates of their theorems?"
TIME = "4 min"
