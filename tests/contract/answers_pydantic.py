"""Answers of a later release, read by the models that datamodel-codegen has generated.

The arguments are the file with the answers and the folder in which the generated module `models` is.
"""

import ast
import json
import re
import sys
from pathlib import Path

file, folder = sys.argv[1:]
sys.path.insert(0, folder)

import models

answers = json.loads(Path(file).read_text(encoding="utf-8"))
for answer in answers:
    if answer["schema"]:
        parsed = getattr(models, answer["schema"]).model_validate(answer["body"])
        dumped = parsed.model_dump_json(by_alias=True)
        assert dumped.count("a_value_of_tomorrow") == json.dumps(answer["body"]).count("a_value_of_tomorrow"), answer

# A name that the generator has made up for a second thing that has it.
source = ast.parse(Path(folder, "models.py").read_text(encoding="utf-8"))
names = [node.name for node in source.body if isinstance(node, ast.ClassDef)]
collided = [name for name in names if re.fullmatch(r".*\D\d+", name)]
assert not collided, f"{len(collided)} of {len(names)} names collide: {collided}"
print(f"{len(names)} models of datamodel-codegen have read {len(answers)} answers with values that they do not know")
