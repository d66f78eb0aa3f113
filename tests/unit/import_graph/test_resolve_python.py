"""Modules of Python, resolved in small trees that look like real ones."""

from __future__ import annotations

from graph_trees import edges


def test_python_relative_imports_name_the_file_and_the_submodules() -> None:
    assert edges(
        {
            "pkg/__init__.py": "from .a import f\n",
            "pkg/a.py": "from . import b, missing\nfrom .sub import deep\nfrom .. import out\n",
            "pkg/b.py": "from .sub.deep import *\nfrom ...too_far import x\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/deep.py": "from ..a import f\nfrom ..sub import deep\n",
        }
    ) == {
        "pkg/__init__.py": ["pkg/a.py"],
        "pkg/a.py": ["pkg/__init__.py", "pkg/b.py", "pkg/sub/deep.py"],
        "pkg/b.py": ["pkg/sub/deep.py"],
        "pkg/sub/deep.py": ["pkg/a.py"],
    }


def test_python_absolute_imports_start_above_the_outermost_package() -> None:
    assert edges(
        {
            "backend/app/__init__.py": "",
            "backend/app/models.py": "",
            "backend/app/main.py": "import app.models\nfrom app import models, models as m\n",
            "frontend/app/__init__.py": "",
            "frontend/app/models.py": "import app\n",
        }
    ) == {
        "backend/app/main.py": ["backend/app/models.py"],
        "frontend/app/models.py": ["frontend/app/__init__.py"],
    }


def test_python_finds_packages_of_a_src_layout_from_the_tests() -> None:
    assert edges(
        {
            "pyproject.toml": '[project]\nname = "thing"\n',
            "src/thing/__init__.py": "",
            "src/thing/core.py": "",
            "tests/test_core.py": "from thing.core import run\nimport thing\n",
        }
    ) == {"tests/test_core.py": ["src/thing/__init__.py", "src/thing/core.py"]}


def test_python_follows_the_roots_that_a_pyproject_names() -> None:
    for table in (
        '[tool.setuptools.packages.find]\nwhere = ["python"]\n',
        '[tool.setuptools.package-dir]\n"" = "python"\n',
        '[tool.poetry]\npackages = [{ include = "thing", from = "python" }]\n',
        '[tool.pytest.ini_options]\npythonpath = ["python"]\n',
        '[tool.pytest.ini_options]\npythonpath = "python other"\n',
    ):
        tree = {
            "libs/a/pyproject.toml": table,
            "libs/a/python/thing.py": "",
            "libs/a/tests/test_thing.py": "import thing\n",
        }
        assert edges(tree) == {"libs/a/tests/test_thing.py": ["libs/a/python/thing.py"]}, table


def test_python_finds_another_distribution_of_the_repository() -> None:
    assert edges(
        {
            "libs/a/setup.py": "",
            "libs/a/alpha/core.py": "",
            "libs/b/pyproject.toml": "",
            "libs/b/src/beta/x.py": "from alpha.core import f\n",
        }
    ) == {"libs/b/src/beta/x.py": ["libs/a/alpha/core.py"]}


def test_python_does_not_choose_between_two_distributions() -> None:
    assert (
        edges(
            {
                "libs/a/setup.py": "",
                "libs/a/common/core.py": "",
                "libs/b/setup.py": "",
                "libs/b/common/core.py": "",
                "tools/x.py": "from common.core import f\n",
            }
        )
        == {}
    )


def test_python_finds_the_only_package_of_a_name() -> None:
    assert edges(
        {
            "python/lib/thing/__init__.py": "",
            "python/lib/thing/core.py": "",
            "tools/x.py": "from thing import core\nimport thing.none\n",
        }
    ) == {"tools/x.py": ["python/lib/thing/core.py"]}


def test_python_takes_no_file_for_a_module_of_the_standard_library() -> None:
    assert (
        edges(
            {
                "scripts/types.py": "",
                "scripts/logging.py": "",
                "scripts/run.py": "import types, os\nfrom logging import getLogger\nimport json\n",
            }
        )
        == {}
    )


def test_python_takes_a_package_of_the_tests_for_what_it_is() -> None:
    assert edges(
        {
            "test/__init__.py": "",
            "test/helpers.py": "",
            "test/unit/test_a.py": "from test import helpers\nfrom test.helpers import x\n",
        }
    ) == {"test/unit/test_a.py": ["test/helpers.py"]}


def test_python_takes_no_far_module_of_a_common_name() -> None:
    assert (
        edges(
            {
                "services/redis.py": "",
                "tools/deep/x.py": "import redis\n",
                "services/deep/y.py": "import redis\n",
            }
        )
        == {}
    )


def test_python_takes_the_package_before_the_module_and_the_source_before_the_stub() -> None:
    assert edges(
        {
            "a.py": "import both, typed, stub\n",
            "both.py": "",
            "both/__init__.py": "",
            "typed.py": "",
            "typed.pyi": "",
            "stub.pyi": "",
        }
    ) == {"a.py": ["both/__init__.py", "stub.pyi", "typed.py"]}


def test_python_imports_inside_a_package_without_init_files() -> None:
    assert edges(
        {
            "backend/app/api/routes.py": "from app.core.db import Session\nfrom app import core\n",
            "backend/app/core/db.py": "",
        }
    ) == {"backend/app/api/routes.py": ["backend/app/core/db.py"]}
