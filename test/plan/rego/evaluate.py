"""Evaluates a query of a module in Rego: `{"module", "input", "query"}` on stdin, the values on stdout, both as JSON."""

import json
import sys

from regopy import Interpreter

asked = json.load(sys.stdin)
interpreter = Interpreter()
interpreter.add_module("recipe", asked["module"])
interpreter.set_input(asked["input"])
answer = json.loads(str(interpreter.query(asked["query"])))
print(json.dumps([expression for expression in answer["expressions"]]))
