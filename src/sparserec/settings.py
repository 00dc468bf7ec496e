"""Typed settings: one frozen model per component, an unknown key names the nearest valid one."""

from __future__ import annotations

import difflib
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from sparserec.errors import SettingError


class Settings(BaseModel):
    """Base of all component settings; subclasses sit beside the component they configure."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @classmethod
    def parse(cls, values: dict[str, Any], where: str = "settings") -> Self:
        """Like model_validate, but a mistake becomes a SettingError that says what to write instead."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise SettingError(
                "\n".join(_explain(cls, problem, where) for problem in error.errors())
            ) from None


def _explain(model: type[BaseModel], problem: Any, where: str) -> str:
    path = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = list(_model_at(model, problem["loc"][:-1]).model_fields)
        near = difflib.get_close_matches(str(problem["loc"][-1]), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
        return f"{where}: unknown setting {path!r}; {hint}"
    return f"{where}: {path}: {problem['msg']} (got {problem.get('input')!r})"


def _model_at(model: type[BaseModel], path: tuple[Any, ...]) -> type[BaseModel]:
    """The settings a path of field names leads to, so that a hint names keys of the right group."""
    for name in path:
        field = model.model_fields.get(str(name))
        if field is None or not (
            isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        ):
            break
        model = field.annotation
    return model
