/**
 * The steps of the Dockerfile in a clean Debian, where no registry of images can be reached:
 * `npm run deploy:check -- --folder /var/tmp/fathom-root [--memory 512] [--modules DIR] [--json]`. Needs root, debootstrap and npm.
 *
 * Makes a root with debootstrap and the Node that runs this in place of the base image, runs every step of every stage in it
 * with chroot, and starts the last one as its user with a read-only root, without capabilities, in its own mounts and processes,
 * inside so many megabytes, until a quote is answered. Then it is stopped by SIGTERM. `--modules` copies a folder of packages in
 * place of `npm ci`. The folder is kept: a second run uses its base.
 *
 * Where Caddy is installed, both Caddyfiles then run in front of a service of this tree, with certificates of their own, and a
 * quote, an event stream and a socket pass through each. Where Helm is installed, the chart is linted and rendered. `--only-proxy` does
 * these two alone, as any user.
 */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { SOL, USDC } from "../../src/domain/Address.ts"
import { report } from "../bench/report.ts"
import { sleep } from "../bench/start/service.ts"
import { checkCaddy } from "./check/caddy.ts"
import { checkChart } from "./check/helm.ts"
import { firstProcess, memoryGroup, runContained } from "./check/container.ts"
import { type Stage, stagesOf, type Step } from "./check/dockerfile.ts"
import { numberOption } from "../options.ts"

const { values } = parseArgs({
  options: {
    folder: { type: "string" },
    memory: { type: "string", default: "512" },
    modules: { type: "string" },
    "only-proxy": { type: "boolean", default: false },
    json: { type: "boolean" }
  }
})
if (!values["only-proxy"] && (values.folder === undefined || process.getuid?.() !== 0)) {
  process.stderr.write("Run it as root with --folder, a folder for the roots of about 3 GB.\n")
  process.exit(2)
}
const folder = resolve(values.folder ?? ".")
const memoryMb = numberOption("--memory", values.memory)
const tree = resolve(new URL("../..", import.meta.url).pathname)
const PATIENCE_MS = 600_000
/** Longer than `DRAIN_LIMIT`, as every file here gives a stop. */
const STOP_MS = 30_000
/** The exit code of a service that was stopped by a signal, after its drain. */
const INTERRUPTED = 130
const SUITE = "bookworm"

const progress = (text: string) => process.stderr.write(`${text}\n`)
const run = (file: string, ...args: ReadonlyArray<string>) => execFileSync(file, args, { stdio: ["ignore", 2, 2] })

/** A clean Debian with Node and npm, as the base image has them. */
const makeBase = (): string => {
  const base = join(folder, "base")
  if (!existsSync(join(base, "usr/local/bin/npm"))) {
    rmSync(base, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    run("debootstrap", "--variant=minbase", "--include=ca-certificates", SUITE, base)
    cpSync(process.execPath, join(base, "usr/local/bin/node"))
    const npm = dirname(dirname(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim())))
    cpSync(npm, join(base, "usr/local/lib/node_modules/npm"), { recursive: true, verbatimSymlinks: true })
    run("ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", join(base, "usr/local/bin/npm"))
  }
  return base
}

/**
 * Certificate authorities that this machine trusts beside Debian's, where a proxy stands before the package registry.
 */
const { NODE_EXTRA_CA_CERTS: authorities } = process.env
const AUTHORITIES = "/etc/ssl/authorities.pem"

const buildEnvironment = [
  "HOME=/root",
  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  ...(authorities === undefined ? [] : [`NODE_EXTRA_CA_CERTS=${AUTHORITIES}`])
]

const inRoot = (root: string, workdir: string, command: string) =>
  run("chroot", root, "env", "-i", ...buildEnvironment, "sh", "-c", `cd ${workdir} && ${command}`)

const copy = (
  step: Extract<Step, { kind: "copy" }>,
  root: string,
  workdir: string,
  roots: ReadonlyMap<string, string>
) => {
  const origin = step.from === null ? tree : (roots.get(step.from) ?? "")
  const target = join(root, step.target.startsWith("/") ? "" : workdir, step.target)
  for (const source of step.sources) {
    const path = join(origin, source)
    const isInto = step.target.endsWith("/") || step.sources.length > 1
    const to = isInto && statSync(path).isFile() ? join(target, basename(source)) : target
    cpSync(path, to, { recursive: true, verbatimSymlinks: true })
  }
}

/** `npm ci`, or the packages of a folder in its place; what follows it in the step runs in both cases. */
const runStep = (command: string, root: string, workdir: string) => {
  if (values.modules !== undefined && command.startsWith("npm ci")) {
    cpSync(values.modules, join(root, workdir, "node_modules"), { recursive: true, verbatimSymlinks: true })
    inRoot(root, workdir, command.replace("npm ci", "npm run prepare"))
  } else {
    inRoot(root, workdir, command)
  }
}

const build = (stage: Stage, base: string, roots: ReadonlyMap<string, string>): { root: string; workdir: string } => {
  const root = join(folder, stage.name ?? "image")
  rmSync(root, { recursive: true, force: true })
  run("cp", "-a", base, root)
  cpSync("/etc/resolv.conf", join(root, "etc/resolv.conf"))
  if (authorities !== undefined) {
    cpSync(authorities, join(root, AUTHORITIES))
  }
  run("mount", "-t", "proc", "proc", join(root, "proc"))
  let workdir = "/"
  try {
    for (const step of stage.steps) {
      progress(`${stage.name ?? "image"}: ${JSON.stringify(step)}`)
      if (step.kind === "workdir") {
        workdir = step.folder
        mkdirSync(join(root, workdir), { recursive: true })
      } else if (step.kind === "copy") {
        copy(step, root, workdir, roots)
      } else {
        runStep(step.command, root, workdir)
      }
    }
  } finally {
    run("umount", join(root, "proc"))
  }
  return { root, workdir }
}

const readyIn = (data: string): { readonly baseUrl: string; readonly keys: { readonly all: string } | null } | null => {
  const file = join(data, "ready.json")
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null
}

/** The size of a folder in megabytes. */
const sizeMb = (path: string): number =>
  Math.round(Number(execFileSync("du", ["-sk", path], { encoding: "utf8" }).split("\t")[0]) / 1024)

const check = async (stage: Stage, root: string, workdir: string) => {
  const [volume = "/data"] = stage.volumes
  const data = join(folder, "volume")
  const uid = Number(
    new RegExp(`^${stage.user}:x:(\\d+)`, "mu").exec(readFileSync(join(root, "etc/passwd"), "utf8"))?.[1] ?? Number.NaN
  )
  rmSync(data, { recursive: true, force: true })
  run("install", "-d", "-o", String(uid), "-g", String(uid), "-m", "0700", data)
  const group = memoryGroup(`fathom-check-${process.pid}`, memoryMb)
  // Ports that are free on this machine, whose network is shared.
  const env = { ...stage.env, PORT: "0", ADMIN_PORT: "0", READY_FILE: join(volume, "ready.json") }
  const path = "/usr/local/bin:/usr/bin:/bin"
  const startedMs = performance.now()
  const child = runContained({
    root,
    workdir,
    uid,
    env: { PATH: path, HOME: volume, ...env },
    command: stage.command,
    volumes: { [volume]: data },
    group
  })
  const gone = new Promise<void>((resume) => child.once("exit", () => resume()))
  try {
    while (readyIn(data) === null && child.exitCode === null && performance.now() - startedMs < PATIENCE_MS) {
      await sleep(200)
    }
    const ready = readyIn(data)
    if (ready === null) {
      throw new Error(`the service is not ready; it was killed for memory ${group.kills()} times`)
    }
    const readyMs = Math.round(performance.now() - startedMs)
    const base = `http://127.0.0.1:${new URL(ready.baseUrl).port}`
    const status = async (asked: string) =>
      (await fetch(base + asked, { headers: { authorization: `Bearer ${ready.keys?.all}` } })).status
    const quote = await status(`/api/v1/spot/quote?inputMint=${SOL}&outputMint=${USDC}&amount=1000000000`)
    const live = await status("/livez")
    const page = await status("/")
    const first = firstProcess(child)
    const owner = /^Uid:\s+(\d+)/mu.exec(readFileSync(`/proc/${first}/status`, "utf8"))?.[1]
    const capabilities = /^CapBnd:\s+(\w+)/mu.exec(readFileSync(`/proc/${first}/status`, "utf8"))?.[1]
    const mounted = readFileSync(`/proc/${first}/mountinfo`, "utf8").split("\n")
    const isReadOnly = mounted.some((line) => /^\d+ \d+ \S+ \S+ \/ ro/u.test(line))
    const stopMs = performance.now()
    process.kill(first, "SIGTERM")
    await Promise.race([gone, sleep(STOP_MS)])
    const stopped = { exitCode: child.exitCode, afterMs: Math.round(performance.now() - stopMs) }
    const isGood =
      quote === 200 &&
      live === 200 &&
      page === 200 &&
      isReadOnly &&
      Number(owner) === uid &&
      Number(`0x${capabilities}`) === 0 &&
      stopped.exitCode === INTERRUPTED &&
      group.kills() === 0
    const memory = { limitMb: memoryMb, peakMb: group.peakMb(), kills: group.kills() }
    return { isGood, quote, live, page, readyMs, uid: Number(owner), capabilities, isReadOnly, memory, stopped }
  } finally {
    child.kill("SIGKILL")
    await gone
    group.remove()
  }
}

/** The image of the Dockerfile, built and run. */
const checkImage = async () => {
  const stages = stagesOf(readFileSync(new URL("Dockerfile", import.meta.url), "utf8"))
  const base = makeBase()
  const roots = new Map<string, string>()
  let built = { root: "", workdir: "" }
  for (const stage of stages) {
    built = build(stage, base, roots)
    if (stage.name !== null) {
      roots.set(stage.name, built.root)
    }
  }
  const last = stages.at(-1)
  if (last === undefined) {
    throw new Error("the Dockerfile has no stage")
  }
  const result = await check(last, built.root, built.workdir)
  return { ...result, imageMb: sizeMb(built.root), packages: values.modules ?? "npm ci" }
}

const image = values["only-proxy"] ? null : await checkImage()
const proxy = await checkCaddy(tree)
const chart = checkChart(tree)
report("deploy:check", { ...image, proxy, chart: chart ?? "not rendered: helm is not installed" })
process.exit((image?.isGood ?? true) && (proxy?.isGood ?? image !== null) && (chart?.isGood ?? true) ? 0 : 1)
