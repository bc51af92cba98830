/**
 * Runs the public TypeScript clients of other services against a sandbox of its own, and compiles the answers against
 * the types that their packages publish. Installs the packages into a temporary folder, so it needs a registry.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { clients, type PublicClient, types } from "./compat/clients.ts"
import { type Ready, startSandbox, type Subjects, subjectsOf } from "./compat/sandbox.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Asks every question of one client in a process of its own. Returns the answers as JSON by name. */
const askAll = (folder: string, client: PublicClient, ready: Ready, subjects: Subjects): Record<string, unknown> => {
  const { mint, pool, wallet } = subjects
  const values = { base: ready.baseUrl, key: ready.keys.all, mint, pool, wallet }
  const questions = client.questions.map(({ ask, name }) => `  ${JSON.stringify(name)}: await (${ask})`).join(",\n")
  const file = join(folder, "ask.mjs")
  writeFileSync(
    file,
    `${client.imports}\nconst { base, key, mint, pool, wallet } = ${JSON.stringify(values)}\n${client.setup}\n` +
      `process.stdout.write(JSON.stringify({\n${questions}\n}))\n`
  )
  return JSON.parse(execFileSync(process.execPath, [file], { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 }))
}

/** Puts the value into the field at the path where an answer does not know it. `*` stands for every element. */
const fillIn = (answer: unknown, [name = "", ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (typeof answer !== "object" || answer === null) {
    return
  }
  for (const each of name === "*" ? Object.keys(answer) : [name]) {
    if (rest.length > 0) {
      fillIn(Reflect.get(answer, each), rest, value)
    } else if (Reflect.get(answer, each) === null || Reflect.get(answer, each) === undefined) {
      Reflect.set(answer, each, value)
    }
  }
}

/** Compiler messages about answers that do not have the published types. */
const typeFaults = (folder: string, typed: ReadonlyArray<readonly [type: string, answer: unknown]>): string => {
  // Behind a call, fields that the type does not have are no error: services add fields to their answers too.
  const lines = typed.map(
    ([type, answer], place) => `export const answer${place}: ${type} = given(${JSON.stringify(answer)})`
  )
  writeFileSync(
    join(folder, "answers.ts"),
    `${types}\nconst given = <A>(answer: A): A => answer\n${lines.join("\n")}\n`
  )
  const compilerOptions = {
    module: "nodenext",
    moduleResolution: "nodenext",
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    target: "esnext",
    types: []
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["answers.ts"] }))
  try {
    execFileSync(pathOf("../node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" })
    return ""
  } catch (failure) {
    return String((failure as { stdout?: unknown }).stdout)
  }
}

const folder = mkdtempSync(join(tmpdir(), "fathom-compat-"))
let stop = async (): Promise<void> => undefined
try {
  const sandbox = await startSandbox(folder)
  stop = sandbox.stop
  const { ready } = sandbox
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }))
  const wanted = clients.map(({ package: name, version }) => `${name}@${version}`)
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...wanted], { cwd: folder })
  const chosen = await subjectsOf(ready)
  const typed: Array<readonly [string, unknown]> = []
  for (const client of clients) {
    const answers = askAll(folder, client, ready, chosen)
    for (const { name, type, unknown = {} } of client.questions) {
      for (const [path, value] of Object.entries(unknown)) {
        fillIn(answers[name], path.split("."), value)
      }
      typed.push([type, answers[name]])
      process.stdout.write(
        `${client.package}@${client.version}  ${name}: ${JSON.stringify(answers[name]).length} bytes\n`
      )
    }
  }
  const faults = typeFaults(folder, typed)
  process.stdout.write(faults === "" ? "All answers have the published types.\n" : faults)
  process.exitCode = faults === "" ? 0 : 1
} finally {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}
