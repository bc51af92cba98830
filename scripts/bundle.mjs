// Bundles the modules of the service into `dist/service`, which starts in a third of the time, and makes the past of the
// simulated market beside them. Plain JavaScript, because `npm ci` runs it with whatever Node is there.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { loadVite } from "./web.mjs"

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url))
const folder = pathOf("../dist/service")
const sources = pathOf("../src")
/** The file with the version of every package. */
const packages = pathOf("../package-lock.json")

/** Modules that a process or a thread starts with. */
export const entries = {
  main: pathOf("../src/main.ts"),
  simulatorWorker: pathOf("../src/simulator/simulatorWorker.ts"),
  writePast: pathOf("../src/simulator/writePast.ts"),
  blockWorker: pathOf("../src/chain/decoding/blockWorker.ts"),
  rawBlockWorker: pathOf("../src/chain/recording/rawBlockWorker.ts"),
  exportWorker: pathOf("../src/market/export/exportWorker.ts"),
  importWorker: pathOf("../src/chain/importing/importWorker.ts"),
  proofWorker: pathOf("../src/quotes/execution/proofWorker.ts"),
  executionWorker: pathOf("../src/quotes/execution/executionWorker.ts"),
  geyserWorker: pathOf("../src/chain/decoding/geyserWorker.ts"),
  decoderWorker: pathOf("../src/chain/decoding/decoderWorker.ts"),
  accountWorker: pathOf("../src/chain/geyser/accountWorker.ts")
}

/** Written last, so that an interrupted build leaves no valid bundle. */
const mark = join(folder, "complete")

/** The past of the simulated market, made by the code of this bundle. */
const past = join(folder, "past.bin")

/** The sources that make the past, and their digest when the bundle was built. */
const pastSources = join(folder, "past.json")

/** Time of the newest change in a tree; 0 when it does not exist. A folder changes when one of its files is removed. */
const newestChangeMs = (path) => {
  const stats = statSync(path, { throwIfNoEntry: false })
  const within = stats?.isDirectory() ? readdirSync(path).map((name) => newestChangeMs(join(path, name))) : []
  return Math.max(stats?.mtimeMs ?? 0, ...within)
}

/** True when a file is newer than all files and trees it was made from. */
export const isNewer = (file, origins) => {
  const madeAtMs = newestChangeMs(file)
  return origins.every((origin) => madeAtMs > newestChangeMs(origin))
}

/** The address of the bundle; null when it is missing or older than its sources. */
export const freshBundle = () => (isNewer(mark, [packages, sources]) ? pathToFileURL(join(folder, "main.js")) : null)

/** A digest that changes with the files, the packages and Node. */
const digestOf = (files) =>
  [packages, ...files.map((file) => join(sources, file))]
    .reduce((hash, file) => hash.update(readFileSync(file)), createHash("sha256").update(process.version))
    .digest("hex")

/** True when the code that makes the past is as it was when the bundle was built. */
const isPastCurrent = () => {
  try {
    const { digest, files } = JSON.parse(readFileSync(pastSources, "utf8"))
    return digest === digestOf(files)
  } catch {
    return false
  }
}

/**
 * The file with the past of the simulated market; null when there is none, or when its code has changed, because the chain
 * would not continue it then. Changes of other sources do not matter.
 */
export const recordedPast = () => (existsSync(past) && isPastCurrent() ? past : null)

/**
 * Makes the past in a process of its own, which takes about ten seconds, unless it is there. Without it, a start reads the
 * past from the simulated node, which takes longer. False when it cannot be made.
 */
export const recordPast = async () => {
  if (recordedPast() !== null) return true
  const module = join(folder, "writePast.js")
  if (!existsSync(module) || Number(process.versions.node.split(".")[0]) < 24) return false
  // Settings such as SIMULATOR_SEED must not reach this process.
  const env = Object.fromEntries(
    ["PATH", "HOME", "TMPDIR"].flatMap((name) => (name in process.env ? [[name, process.env[name]]] : []))
  )
  const child = spawn(process.execPath, [module, past], { stdio: ["ignore", "ignore", "inherit"], env })
  return new Promise((resume) => {
    child.once("error", () => resume(false))
    child.once("exit", (code) => resume(code === 0))
  })
}

/** A path as modules are named in a build: with slashes on every system. */
const slashed = (path) => path.split(sep).join("/")

/**
 * Keeps the address of each module: threads are entries of the bundle, and files are found where the source looks for
 * them.
 */
const addresses = {
  name: "addresses",
  transform: (code, id) => {
    if (id.startsWith("\0") || !code.includes("import.meta.url")) return null
    const own = slashed(relative(folder, id.split("?", 1)[0]))
    return code.replaceAll(/new URL\("\.\/(?:\w+\/)*(\w+)\.ts", import\.meta\.url\)|import\.meta\.url/gu, (_, thread) =>
      thread === undefined ? `new URL("${own}", import.meta.url).href` : `new URL("./${thread}.js", import.meta.url)`
    )
  }
}

/** Adds an entry's source to `found`, and all sources that it imports, even those of which only constants are left. */
const findSources = (entry, found) => ({
  name: "sources",
  buildEnd() {
    found.add(slashed(entry))
    for (const id of found) {
      const imported = this.getModuleInfo(id)?.importedIds ?? []
      for (const each of imported) if (each.startsWith(`${slashed(sources)}/`)) found.add(each)
    }
  }
})

/**
 * Bundles the sources together with Effect; other packages are loaded as they are. Keeps a past whose code has not
 * changed. Does nothing without development packages.
 */
export const bundleService = async () => {
  const vite = await loadVite()
  if (vite === null) return
  const kept = recordedPast() === null ? null : readFileSync(past)
  const pastFiles = new Set()
  await vite.build({
    configFile: false,
    root: pathOf(".."),
    logLevel: "warn",
    publicDir: false,
    plugins: [addresses, findSources(entries.writePast, pastFiles)],
    ssr: { noExternal: [/^effect(?:\/|$)/u, /^@effect\//u] },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      target: "node24",
      rolldownOptions: {
        input: entries,
        output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", comments: false }
      }
    }
  })
  const files = Array.from(pastFiles, (file) => relative(sources, file))
  writeFileSync(pastSources, JSON.stringify({ digest: digestOf(files), files }))
  if (kept !== null) writeFileSync(past, kept)
  writeFileSync(mark, "")
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleService()
  await recordPast()
}
