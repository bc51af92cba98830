/**
 * Runs every block of code of `docs/guides` as printed, against a sandbox of its own: `sh`, `js` with the package
 * `fathom-client`, `ts` with the package `fathom`, and `python` with the Python client. A block fails when it ends with another code than 0, prints nothing,
 * or prints an error of the service.
 *
 *     npm run guides -- [GUIDE.md] [--ready FILE]
 *
 * `--ready` takes the `READY_FILE` of a sandbox that runs already, whose history is read.
 */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { buildClient } from "./client/build.ts"
import { buildPython } from "./client/python.ts"
import { type Ready, startSandbox, subjectsOf } from "./compat/sandbox.ts"

const run = promisify(execFile)

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const GUIDES = join(ROOT, "docs/guides")

/** The address that the guides print. */
const PRINTED = "http://127.0.0.1:3000"

const SOL = "So11111111111111111111111111111111111111112"

const programs: Readonly<Record<string, { readonly command: string; readonly ending: string }>> = {
  sh: { command: "sh", ending: "sh" },
  js: { command: process.execPath, ending: "mjs" },
  ts: { command: process.execPath, ending: "mts" },
  python: { command: process.env["PYTHON"] ?? "python3", ending: "py" }
}

interface Block {
  readonly guide: string
  readonly place: number
  readonly language: string
  readonly code: string
}

const blocksOf = (guide: string): ReadonlyArray<Block> =>
  Array.from(
    readFileSync(join(GUIDES, guide), "utf8").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gmu),
    ([, language = "", code = ""], index) => ({ guide, place: index + 1, language, code })
  )

/** Runs a block. Returns what is wrong with it; null when nothing is. */
const faultOf = async (
  folder: string,
  { code, guide, language, place }: Block,
  env: Readonly<Record<string, string>>
): Promise<string | null> => {
  const program = programs[language]
  if (program === undefined) {
    return `${language} is not run: use ${Object.keys(programs).join(", ")}, or a block without a language.`
  }
  const file = join(folder, `${guide}-${place}.${program.ending}`)
  writeFileSync(file, code.replaceAll(PRINTED, env["BASE"] ?? PRINTED))
  try {
    const { stdout } = await run(program.command, [file], { cwd: folder, env, timeout: 60_000, maxBuffer: 2 ** 26 })
    if (stdout.trim() === "") {
      return "It prints nothing."
    }
    return stdout.startsWith('{"error"') ? stdout.trim() : null
  } catch (failure) {
    const { message, stderr } = failure as { readonly message: string; readonly stderr?: string }
    return stderr?.trim() || message
  }
}

/** The sources as the package `fathom`, reached by a link: Node strips no types inside of `node_modules`. */
const linkFathom = (folder: string): void => {
  const own = join(folder, "fathom")
  mkdirSync(own)
  symlinkSync(join(ROOT, "src"), join(own, "src"))
  const exports = { ".": "./src/index.ts", "./testing": "./src/testing/SimulatedMarket.ts" }
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "fathom", type: "module", exports }))
  symlinkSync(own, join(folder, "node_modules/fathom"))
  for (const name of ["effect", "@effect"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name))
  }
}

const folder = mkdtempSync(join(tmpdir(), "fathom-guides-"))
let stop = async (): Promise<void> => undefined

const readyIn = (file: string): Ready => JSON.parse(readFileSync(file, "utf8"))

/** A sandbox of its own, which ends with this program. */
const started = async (): Promise<Ready> => {
  const sandbox = await startSandbox(folder)
  stop = sandbox.stop
  return sandbox.ready
}

try {
  const inside = join(folder, "node_modules/fathom-client")
  mkdirSync(inside, { recursive: true })
  await buildClient(inside)
  buildPython(join(folder, "python"))
  linkFathom(folder)
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { ready: { type: "string" } } })
  const ready = values.ready === undefined ? await started() : readyIn(values.ready)
  const { mint, pool, wallet } = await subjectsOf(ready)
  const env = {
    PATH: process.env["PATH"] ?? "",
    PYTHONPATH: join(folder, "python"),
    BASE: ready.baseUrl,
    KEY: ready.keys.all,
    MINT: mint,
    POOL: pool,
    SOL,
    WALLET: wallet
  }
  const [wanted] = positionals
  const guides = readdirSync(GUIDES).filter((name) => name.endsWith(".md") && (wanted ?? name) === name)
  const faults: Array<string> = []
  for (const block of guides.flatMap(blocksOf)) {
    const fault = await faultOf(folder, block, env)
    process.stdout.write(
      `${fault === null ? "ok  " : "FAIL"} ${block.guide}, block ${block.place} (${block.language})\n`
    )
    if (fault !== null) {
      faults.push(`${block.guide}, block ${block.place}:\n${fault}`)
    }
  }
  process.stdout.write(faults.length === 0 ? "Every block runs as printed.\n" : `${faults.join("\n\n")}\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}
