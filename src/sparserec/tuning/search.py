"""The search itself: trials one after the other, the winner by validation, its test set opened once."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparserec.data import Source
from sparserec.errors import RunError, SettingError, TrainingError
from sparserec.export import ship_run
from sparserec.files import write_text
from sparserec.planning import PlanOptions, plan_run
from sparserec.plots import NoPlotsError, save_figure
from sparserec.progress import Progress, progress, say
from sparserec.runs import EndTraining, Event, Observer, Record, RunFolder, open_later, train_run, watching
from sparserec.training import RunConfig
from sparserec.tuning.figure import trials_figure
from sparserec.tuning.outcome import Outcome
from sparserec.tuning.space import search_space, with_values
from sparserec.tuning.study import LOCK, Study, Taken, alone_in

STUDY, TRIALS_FILE, FIGURE = "study.json", "trials.json", "trials.png"
PRUNED_FROM = 1 / 3
"""Share of a training before which nothing is pruned: slow rates begin badly."""
WAIT = 0.2


@dataclass(frozen=True)
class Effort:
    """When a search ends: after so many trials, or when no more may begin."""

    trials: int | None = 20
    minutes: float | None = None
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, trials: int | None, minutes: float | None) -> Effort:
        """As people give it: 20 trials where neither is given."""
        if trials is not None and (not isinstance(trials, int) or isinstance(trials, bool) or trials < 1):
            raise SettingError(f"`trials` is {trials!r}: a whole number from 1")
        if minutes is not None and not minutes > 0:
            raise SettingError(f"`minutes` is {minutes!r}: a number above 0")
        return cls(20 if trials is None and minutes is None else trials, minutes)

    @property
    def over(self) -> bool:
        return self.minutes is not None and time.monotonic() - self.began > 60 * self.minutes

    def ticks(self, done: int) -> tuple[int, int]:
        """What a bar shows as all and as done: trials, else seconds."""
        if self.trials is not None:
            return self.trials, min(done, self.trials)
        return int(60 * (self.minutes or 0)), int(time.monotonic() - self.began)


def search_settings(
    config: RunConfig,
    given: Collection[str],
    source: Source,
    folder: Path | None,
    effort: Effort,
    options: PlanOptions,
    file: bool = True,
    quiet: bool = True,
) -> Outcome:
    """Search the settings that `given` does not name; in a folder of an earlier search of the same it goes on.

    Trials are chosen by validation alone; then the test set of the best is opened, and with `file` its device file is
    written. Every process that calls this with the same folder works on the same search, and gets the same answer.
    """
    _refuse(config)
    folder = folder or _named_after(config)
    config, given = _open_search(folder, config, given, source, options, quiet)
    space = search_space(config, given)
    if not space:
        raise SettingError("every setting that a search would try was given: nothing is left to search")
    search = _Search(Study(folder, space, config.seed), config, source, options, effort)
    ended = search.study.ended()
    whole, done = effort.ticks(len(ended))
    with progress(
        "trials" if effort.trials is not None else "seconds of search", whole, quiet, done=done
    ) as bar:
        search.run(bar, done)
    with search.study.alone():
        outcome = search.outcome()
        _measure(outcome, options, file, quiet)
        outcome = search.outcome()
        write_text(folder / TRIALS_FILE, json.dumps(outcome.as_dict() | {"folder": folder.name}, indent=1))
        _draw(outcome, quiet)
    return outcome


@dataclass
class _Search:
    study: Study
    config: RunConfig
    source: Source
    options: PlanOptions
    effort: Effort

    def run(self, bar: Progress, done: int) -> None:
        """Trials until enough have ended, those of other processes included."""
        while True:
            taken = None if self.effort.over and self.study.ended() else self.study.take(self.effort.trials)
            if taken is not None:
                self._train(taken, bar)
            elif not self.study.others():
                return
            else:
                time.sleep(WAIT)
            now = self.effort.ticks(len(self.study.ended()))[1]
            bar.advance(max(0, now - done), self._best())
            done = max(now, done)

    def _best(self) -> str:
        scores = [
            one.score for one in self.study.ended() if one.state == "finished" and one.score is not None
        ]
        return f"best {max(scores):.4f}" if scores else ""

    def _train(self, taken: Taken, bar: Progress) -> None:
        run, began = RunFolder(taken.folder), time.perf_counter()
        reports = _Reports(taken, bar, self.config.score_name)
        options = PlanOptions(most_nmf_work=0, force=True, threads=self.options.threads)
        with taken.held:
            try:
                if not run.finished:  # else it died when only its score was left to write down
                    with watching([reports]) as watched:
                        config = with_values(self.config, taken.values)
                        train_run(config, run.path, self.source, options, resume=run.begun, watched=watched)
            except _Pruned:
                shutil.rmtree(run.path)
                self.study.tell(taken, "pruned", None, reports.epochs, time.perf_counter() - began)
                return
            except (
                TrainingError,
                SettingError,
            ) as error:  # settings that are no model together are a trial too
                if taken.defaults and isinstance(error, SettingError):
                    raise
                taken.trial.set_user_attr("error", str(error))
                self.study.tell(taken, "failed", None, reports.epochs, time.perf_counter() - began)
                return
            record = run.read_record()
            shutil.rmtree(run.work, ignore_errors=True)  # of use to a resumed training only
            epochs = sum(phase.epochs for phase in record.epochs)
            self.study.tell(taken, "finished", _score(record), epochs, time.perf_counter() - began)

    def outcome(self) -> Outcome:
        trials = tuple(sorted(self.study.ended(), key=lambda one: one.number))
        if not any(one.state == "finished" for one in trials):
            raise RunError(
                f"{self.study.folder}: every trial failed; {self.study.folder / 'journal.log'} has why"
            )
        folders = [RunFolder(self.study.folder / one.folder) for one in trials if one.folder is not None]
        opened = sum(run.read_record().test_opened is not None for run in folders)
        return Outcome(self.study.folder, self.config.score_name, trials, opened)


class _Pruned(EndTraining):
    """Others were better by now."""


class _Reports(Observer):
    """Tells the study what a trial scores on the way."""

    name = "search"

    def __init__(self, taken: Taken, bar: Progress, score_name: str) -> None:
        self.taken, self.bar, self.score_name = taken, bar, score_name
        self.before = self.epochs = 0
        self.prunes_from = 0.0

    def begin(self, run: RunFolder, events: list[Event]) -> None:
        self.prunes_from = PRUNED_FROM * run.read_config().settled["epochs"]
        for event in events:
            self._note(event)

    def event(self, event: Event) -> None:
        if self._note(event) and self.epochs >= self.prunes_from and self.taken.trial.should_prune():
            raise _Pruned(f"trial {self.taken.trial.number} was pruned after epoch {self.epochs}")

    def _note(self, event: Event) -> bool:
        """Whether there was a score in it."""
        if event["event"] == "phase":
            self.before += event["epochs"]
        if event["event"] != "epoch":
            return False
        self.epochs = self.before + event["epoch"]
        score = event.get("valid", {}).get(self.score_name)
        text = "" if score is None else f", {self.score_name} {score:.4f}"
        self.bar.advance(0, f"trial {self.taken.trial.number}, epoch {self.epochs}{text}")
        if score is not None:
            self.taken.trial.report(score, self.epochs)
        return score is not None


def _score(record: Record) -> float:
    score = record.epochs[-1].best_score
    if score is None:
        raise SettingError(
            "this split has no validation part, and a search needs one: choose another `protocol`"
        )
    return score


def _refuse(config: RunConfig) -> None:
    if config.final:
        raise SettingError(
            "`final` trains on everything, and a search needs validation: search first, then train the winner's "
            "settings with it (`sparserec config show`)"
        )
    if config.test_epochs:
        raise SettingError("test_epochs: the test set stays closed in a search")
    if config.protocol == "public-full":
        raise SettingError(
            "protocol public-full has no validation part, and a search needs one: choose another `protocol`"
        )


def _open_search(
    folder: Path, config: RunConfig, given: Collection[str], source: Source, options: PlanOptions, quiet: bool
) -> tuple[RunConfig, Collection[str]]:
    """What the search settled when it began; another search in its folder is refused."""
    with alone_in(folder):
        return _settled(folder, config, given, source, options, quiet)


def _settled(
    folder: Path, config: RunConfig, given: Collection[str], source: Source, options: PlanOptions, quiet: bool
) -> tuple[RunConfig, Collection[str]]:
    path = folder / STUDY
    question = {
        "asked": config.digest(),
        "given": sorted(given),
        "budget": options.budget,
        "interactions": len(source.train),
    }
    if path.is_file():
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            same = all(stored[name] == value for name, value in question.items())
            settled = RunConfig.parse(stored["config"], str(path))
        except (ValueError, KeyError, TypeError):
            raise RunError(f"{path}: damaged, not what a search wrote; choose another `folder`") from None
        if not same:
            raise RunError(
                f"{folder}: holds a search of other settings or data; give the same ones, or another `folder`"
            )
        return settled, stored["given"]
    if any(file.name != LOCK for file in folder.iterdir()):
        raise RunError(f"{folder}: exists and is no search; choose another `folder`")
    plan = plan_run(config, source, options)
    say("\n".join(plan.notes), quiet or not plan.notes)
    values: dict[str, Any] = question | {"config": plan.config.model_dump(mode="json")}
    write_text(path, json.dumps(values, indent=1))
    return plan.config, given


def _named_after(config: RunConfig) -> Path:
    return Path("runs") / f"{Path(config.data).stem}-tune-{config.digest()[:8]}"


def _measure(outcome: Outcome, options: PlanOptions, file: bool, quiet: bool) -> None:
    """Open the winner's test set, and choose its file."""
    run = RunFolder(outcome.best_folder)
    open_later(run.path, quiet)
    if file and options.mode == "items" and not run.device_file.exists():
        ship_run(run.path, options.budget, quiet)


def _draw(outcome: Outcome, quiet: bool) -> None:
    try:
        save_figure(trials_figure(outcome), outcome.folder / FIGURE)
    except NoPlotsError as error:
        say(f"no figure was drawn: {error}", quiet)
