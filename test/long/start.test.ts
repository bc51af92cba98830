import { assert, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { isBuiltin } from "node:module"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { commandText } from "../../src/domain/commandText.ts"

const PATIENCE_MS = 60_000

const helpWith = (cache: string): string => {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  return execFileSync(process.execPath, ["scripts/start.mjs", "--help"], {
    encoding: "utf8",
    env: { ...env, XDG_CACHE_HOME: cache, HOME: cache, LOCALAPPDATA: cache }
  })
}

it(
  "keeps compiled code in the user's cache folder, and runs without a folder that it can write",
  { timeout: PATIENCE_MS },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "fathom-cache-"))
    try {
      assert.include(helpWith(folder), "Serve the developer API")
      assert.isAbove(globSync("**/fathom/code/**/*", { cwd: folder }).length, 5)
      const file = join(folder, "a file")
      writeFileSync(file, "")
      assert.include(helpWith(file), "Serve the developer API")
      assert.isTrue(existsSync(file))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
)

it("says what is missing on an older Node, and exits with 1", () => {
  const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(older)}`, "scripts/start.mjs"],
    { encoding: "utf8" }
  )
  assert.include(stderr, "Fathom needs Node 24.")
  assert.strictEqual(status, 1)
})

it("builds pages and bundle from packages that an installation without development packages has", () => {
  const { packages }: { readonly packages: Record<string, { readonly dev?: true }> } = JSON.parse(
    readFileSync("package-lock.json", "utf8")
  )
  const sources = globSync(["src/web/**/*.{ts,tsx}", "scripts/{start,prepare,web,bundle}.mjs"])
  const imported = sources.flatMap((path) =>
    Array.from(
      readFileSync(path, "utf8").matchAll(/(?:\bfrom |\bimport\(?\s*)"((?:@[\w-]+\/)?[\w-]+)(?:\/[^"]*)?"/gu),
      ([, name = ""]) => name
    )
  )
  const names = [...new Set([...imported, "preact"])].filter((name) => !isBuiltin(name))
  assert.includeMembers(names, ["vite", "preact", "preact-iso", "lightweight-charts"])
  assert.deepStrictEqual(
    names.filter((name) => packages[`node_modules/${name}`] === undefined || packages[`node_modules/${name}`]?.dev),
    []
  )
})

it("has a part of the bundle for every program and thread", async () => {
  const { entries } = (await import(pathToFileURL("scripts/bundle.mjs").href)) as {
    readonly entries: Readonly<Record<string, string>>
  }
  const threads = globSync("src/**/*.ts").flatMap((path) =>
    Array.from(
      readFileSync(path, "utf8").matchAll(/new URL\("(?<thread>\.[^"]*\.ts)", import\.meta\.url\)/gu),
      ({ groups }) => resolve(path, "..", groups?.["thread"] ?? "")
    )
  )
  const programs = [resolve("src/main.ts"), resolve("src/simulator/writePast.ts")]
  assert.sameMembers(Object.values(entries), [...programs, ...new Set(threads)])
})

it("starts from one bundle after npm ci, which it compiles", { timeout: 4 * PATIENCE_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-cache-"))
  try {
    const env = { PATH: process.env["PATH"], HOME: folder, XDG_CACHE_HOME: folder, DATABASE_URL: "nonsense" }
    const call = `
      import { bundleService, freshBundle } from "./scripts/bundle.mjs"
      import { compileStart } from "./scripts/prepare.mjs"
      if (freshBundle() === null) await bundleService()
      process.exit(freshBundle() !== null && (await compileStart()) ? 0 : 1)`
    execFileSync(process.execPath, ["--input-type=module", "-e", call], { env })
    const compiled = globSync("**/fathom/code/**/*", { cwd: folder, withFileTypes: true }).filter((file) =>
      file.isFile()
    )
    // Parts of the bundle and packages outside it, but no module of the sources.
    assert.isAbove(compiled.length, globSync("dist/service/*.js").length / 2)
    assert.isBelow(compiled.length, globSync("src/**/*.ts").length / 2)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it("does not start from a bundle that is missing or older than a source, even a removed one", async () => {
  const { isNewer } = (await import(pathToFileURL("scripts/bundle.mjs").href)) as {
    readonly isNewer: (file: string, origins: ReadonlyArray<string>) => boolean
  }
  const folder = mkdtempSync(join(tmpdir(), "fathom-bundle-"))
  const at = (path: string, seconds: number) => utimesSync(join(folder, path), seconds, seconds)
  try {
    mkdirSync(join(folder, "src/room"), { recursive: true })
    for (const file of ["bundle.js", "packages.json", "src/room/a.ts"]) {
      writeFileSync(join(folder, file), "")
      at(file, 100)
    }
    const paths = ["src/room", "src", "bundle.js"]
    paths.forEach((path) => at(path, 100))
    const isFresh = () => isNewer(join(folder, "bundle.js"), [join(folder, "packages.json"), join(folder, "src")])
    assert.isFalse(isFresh())
    at("bundle.js", 101)
    assert.isTrue(isFresh())
    for (const changed of ["packages.json", "src/room/a.ts", "src/room"]) {
      at(changed, 102)
      assert.isFalse(isFresh(), changed)
      at(changed, 100)
    }
    rmSync(join(folder, "bundle.js"))
    assert.isFalse(isFresh())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it("keeps the past of the simulated market until its own code changes", { timeout: PATIENCE_MS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-past-"))
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, ".."), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const run = (script: string, ...parameters: ReadonlyArray<string>) => {
    const env = { PATH: process.env["PATH"], HOME: folder, XDG_CACHE_HOME: folder }
    return execFileSync(process.execPath, [join(folder, script), ...parameters], { encoding: "utf8", env })
  }
  try {
    for (const name of ["start.mjs", "web.mjs", "bundle.mjs"]) {
      write(`scripts/${name}`, readFileSync(join("scripts", name), "utf8"))
    }
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"))
    write("package.json", '{ "type": "module" }')
    write("package-lock.json", "{}")
    const { entries } = (await import(pathToFileURL("scripts/bundle.mjs").href)) as {
      readonly entries: Readonly<Record<string, string>>
    }
    Object.values(entries).forEach((entry) => write(relative(resolve("."), entry), "export {}"))
    write("src/simulator/seed.ts", 'export const seed: string = "a"')
    write(
      "src/simulator/writePast.ts",
      `import { writeFileSync } from "node:fs"
      import { seed } from "./seed.ts"
      writeFileSync(process.argv[2] ?? "", seed + process.pid)`
    )
    // A command that is not the service, which would build pages.
    const used = () => run("scripts/start.mjs", "past")
    const service = (text: string) =>
      write("src/main.ts", `process.stdout.write((process.env.SIMULATOR_PAST ?? "none") + ${JSON.stringify(text)})`)
    const past = join(folder, "dist/service/past.bin")
    const made = () => readFileSync(past, "utf8")

    service(" 1")
    run("scripts/bundle.mjs")
    assert.strictEqual(used(), `${past} 1`)
    const first = made()
    assert.match(first, /^a/u)

    // The service runs from its sources, which are newer than the bundle.
    service(" 2")
    assert.strictEqual(used(), `${past} 2`)
    run("scripts/bundle.mjs")
    assert.strictEqual(made(), first)

    write("src/simulator/seed.ts", 'export const seed: string = "b"')
    assert.strictEqual(used(), "none 2")
    run("scripts/bundle.mjs")
    assert.match(made(), /^b/u)
    assert.strictEqual(used(), `${past} 2`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it("builds missing pages without keeping the builder in the process of the service", { timeout: PATIENCE_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-pages-"))
  try {
    mkdirSync(join(folder, "scripts"))
    for (const name of ["start.mjs", "web.mjs", "bundle.mjs"]) {
      copyFileSync(join("scripts", name), join(folder, "scripts", name))
    }
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"))
    mkdirSync(join(folder, "src/web"), { recursive: true })
    writeFileSync(join(folder, "src/web/index.html"), "<!doctype html><title>Pages</title>")
    const libraries = "process.report.getReport().sharedObjects.filter((name) => name.includes('rolldown')).length"
    writeFileSync(join(folder, "src/main.ts"), `process.stdout.write(\`builders: \${${libraries}}\`)`)
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
    const env = { PATH: process.env["PATH"], HOME: folder, XDG_CACHE_HOME: folder }
    const output = execFileSync(process.execPath, [join(folder, "scripts/start.mjs")], { encoding: "utf8", env })
    assert.include(output, "builders: 0")
    assert.isTrue(existsSync(join(folder, "dist/web/index.html")))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it("starts what the sources were compiled to where the package has no sources", { timeout: PATIENCE_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-installed-"))
  try {
    const { bin, files }: { readonly bin: { readonly fathom: string }; readonly files: ReadonlyArray<string> } =
      JSON.parse(readFileSync("package.json", "utf8"))
    for (const name of files.filter((file) => file.startsWith("scripts/"))) {
      mkdirSync(join(folder, "scripts"), { recursive: true })
      copyFileSync(name, join(folder, name))
    }
    mkdirSync(join(folder, "dist/web"), { recursive: true })
    writeFileSync(join(folder, "dist/web/index.html"), "")
    writeFileSync(join(folder, "dist/main.js"), 'process.stdout.write("compiled")')
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
    const env = { PATH: process.env["PATH"], HOME: folder, XDG_CACHE_HOME: folder }
    assert.strictEqual(
      execFileSync(process.execPath, [join(folder, bin.fathom)], { encoding: "utf8", env }),
      "compiled"
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it("names commands as they are typed in the repository, and beside an installed package", () => {
  assert.strictEqual(commandText("keys", "list"), "npm run keys -- list")
  assert.strictEqual(commandText("keys", "list", true), "npx fathom keys list")
})

/** Starts with minutes that take 60 ms, while the market is read or not, and returns the flags that were set. */
const flagsSet = (isReading: boolean): string => {
  const preload = `
    import v8 from "node:v8"
    import { channel } from "node:diagnostics_channel"
    const begin = globalThis.setInterval
    globalThis.setInterval = (call, ms) => {
      channel("fathom.market").publish({ isReading: ${isReading} })
      return begin(call, ms / 1000)
    }
    v8.setFlagsFromString = (flag) => process.stderr.write(flag)`
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(preload)}`, "scripts/start.mjs", "--help"],
    { encoding: "utf8" }
  )
  assert.strictEqual(status, 0, stderr)
  return stderr
}

it("saves memory after a minute, but not while the market is being read", { timeout: PATIENCE_MS }, () => {
  assert.include(flagsSet(false), "--memory-saver-mode")
  assert.notInclude(flagsSet(true), "--memory-saver-mode")
})

it("makes objects begin young from the start", { timeout: PATIENCE_MS }, () => {
  assert.include(flagsSet(true), "--no-allocation-site-pretenuring")
})

it("sets only flags that this Node knows", () => {
  const source = readFileSync("scripts/start.mjs", "utf8")
  const flags = Array.from(source.matchAll(/setFlagsFromString\("([^"]+)"\)/gu), ([, flag = ""]) => flag)
  assert.isNotEmpty(flags)
  // Node exits with 9 for an unknown flag. A running process ignores it.
  assert.strictEqual(execFileSync(process.execPath, [...flags, "-p", "1"], { encoding: "utf8" }), "1\n")
})
