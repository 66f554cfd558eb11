"""Compiles C# with Roslyn, hosted in CoreCLR through pythonnet: there is no SDK where the tests run.

usage: compile.py RUNTIME ROSLYN JOB...
A JOB is OUT.dll=SOURCE.cs,SOURCE.cs,@REFERENCE.dll. An OUT.exe.dll gets an entry point. Warnings are errors.
"""

import glob
import json
import os
import sys
from pathlib import Path

runtime, roslyn = sys.argv[1], sys.argv[2]
os.environ["DOTNET_ROOT"] = runtime
os.environ["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "1"
os.environ["DOTNET_TieredPGO"] = "0"  # the compiler runs for only two seconds
framework = sorted(glob.glob(f"{runtime}/shared/Microsoft.NETCore.App/*"))[-1]
version = os.path.basename(framework)
config = Path(roslyn) / "host.runtimeconfig.json"
RUNTIME_CONFIG = {
    "runtimeOptions": {
        "tfm": "net8.0",
        "framework": {"name": "Microsoft.NETCore.App", "version": version},
        "configProperties": {"System.Globalization.Invariant": True},
    }
}
config.write_text(json.dumps(RUNTIME_CONFIG))

from clr_loader import get_coreclr  # noqa: E402
from pythonnet import set_runtime  # noqa: E402

set_runtime(get_coreclr(runtime_config=str(config), dotnet_root=Path(runtime)))
import clr  # noqa: E402

sys.path.append(roslyn)
clr.AddReference("Microsoft.CodeAnalysis")
clr.AddReference("Microsoft.CodeAnalysis.CSharp")
import System  # noqa: E402
from Microsoft.CodeAnalysis import (  # noqa: E402
    DiagnosticSeverity,
    DocumentationMode,
    MetadataReference,
    NullableContextOptions,
    OptimizationLevel,
    OutputKind,
    SyntaxTree,
)
from Microsoft.CodeAnalysis.CSharp import (  # noqa: E402
    CSharpCompilation,
    CSharpCompilationOptions,
    CSharpParseOptions,
    CSharpSyntaxTree,
    LanguageVersion,
)
from Microsoft.CodeAnalysis.Text import SourceText  # noqa: E402

SYMBOLS = ["NET", "NETCOREAPP", "NET8_0"] + [f"NET{v}_0_OR_GREATER" for v in (5, 6, 7, 8)]


def managed(path):
    """Whether a file of the shared framework is an assembly that can be referenced."""
    name = os.path.basename(path)
    return name.endswith(".dll") and not name.startswith(("lib", "Microsoft.DiaSymReader", "mscordac", "clr"))


def compile_job(job):
    out, _, rest = job.partition("=")
    parts = rest.split(",")
    sources = [p for p in parts if not p.startswith("@")]
    references = list(REFERENCES)
    references += [MetadataReference.CreateFromFile(p[1:]) for p in parts if p.startswith("@")]
    symbols = System.Array[System.String](SYMBOLS)
    executable = out.endswith(".exe.dll")
    # A library's public members need documentation, and references in its comments must resolve.
    comments = DocumentationMode.Parse if executable else DocumentationMode.Diagnose
    options = CSharpParseOptions(LanguageVersion.CSharp12).WithPreprocessorSymbols(symbols).WithDocumentationMode(comments)
    trees = System.Array[SyntaxTree](
        [
            CSharpSyntaxTree.ParseText(
                SourceText.From(Path(s).read_text(encoding="utf-8"), System.Text.Encoding.UTF8), options, s
            )
            for s in sources
        ]
    )
    kind = OutputKind.ConsoleApplication if executable else OutputKind.DynamicallyLinkedLibrary
    nullable = NullableContextOptions.Disable if executable else NullableContextOptions.Enable
    compilation_options = (
        CSharpCompilationOptions(kind)
        .WithAllowUnsafe(True)
        .WithOptimizationLevel(OptimizationLevel.Release)
        .WithNullableContextOptions(nullable)
    )
    name = os.path.splitext(os.path.basename(out))[0]
    references = System.Array[MetadataReference](references)
    compilation = CSharpCompilation.Create(name, trees, references, compilation_options)
    failed = 0
    for diagnostic in compilation.GetDiagnostics():
        if diagnostic.Severity >= DiagnosticSeverity.Warning:
            print(diagnostic.ToString(), file=sys.stderr)
            failed += 1
    if failed:
        return False
    stream = System.IO.MemoryStream()
    result = compilation.Emit(stream)
    if not result.Success:
        for diagnostic in result.Diagnostics:
            print(diagnostic.ToString(), file=sys.stderr)
        return False
    Path(out).write_bytes(bytes(stream.ToArray()))
    if executable:
        Path(out[: -len(".dll")] + ".runtimeconfig.json").write_text(json.dumps(RUNTIME_CONFIG))
    return True


REFERENCES = [MetadataReference.CreateFromFile(p) for p in sorted(glob.glob(f"{framework}/*.dll")) if managed(p)]
if not all([compile_job(job) for job in sys.argv[3:]]):
    sys.exit(1)
