#!/usr/bin/env node
// Plain JavaScript, so that an old Node can read it and say what is missing.
import { spawnSync } from "node:child_process"
import diagnostics from "node:diagnostics_channel"
import { existsSync } from "node:fs"
import module from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import v8 from "node:v8"
import { freshBundle, recordedPast } from "./bundle.mjs"
import { isBuilt } from "./web.mjs"

/**
 * Milliseconds after which a service writes its compiled code, so that even a service that is killed later keeps it.
 */
const FLUSH_AFTER_MS = 15_000

/**
 * Milliseconds after which saving memory matters more than saving the time of collections. A start allocates much that
 * stays, and is faster without saving memory. While the market is being read, it waits another minute, until
 * `SAVE_LATEST_MS`.
 */
const SAVE_AFTER_MS = 60_000
const SAVE_LATEST_MS = 300_000

/** Bytes of a container below which memory always matters more. */
const TIGHT_BYTES = 2 ** 30

/** The cache folder of the user on this system. */
const cacheFolder = () => {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  if (process.platform === "win32") return LOCALAPPDATA ?? join(homedir(), "AppData/Local")
  return process.platform === "darwin" ? join(homedir(), "Library/Caches") : XDG_CACHE_HOME || join(homedir(), ".cache")
}

/**
 * Keeps compiled code, without types, between starts. When the folder cannot be written, code is compiled each time.
 */
const keepCompiled = () => {
  // Threads read the folder from the environment.
  process.env.NODE_COMPILE_CACHE ??= join(cacheFolder(), "fathom/code")
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  setTimeout(() => module.flushCompileCache(), FLUSH_AFTER_MS).unref()
}

/**
 * Makes every object begin among the young ones. Otherwise V8 watches the lines of code that make objects, and lets new
 * objects of a line begin among the old ones when nearly all earlier ones lived on. A start makes contexts and layers that
 * live on, and the same lines of Effect make the context of each request. Such a context begins old, keeps its whole request
 * alive after it is answered, and every collection copies that.
 */
const beginYoung = () => v8.setFlagsFromString("--no-allocation-site-pretenuring")

/** Keeps the heaps of all threads small once the service has started and has read its market (`src/app/Startup.ts`). */
const saveMemory = () => {
  const limit = process.constrainedMemory()
  const isTight = limit > 0 && limit < TIGHT_BYTES
  let isReading = true
  diagnostics.subscribe("fathom.market", (message) => (isReading = message.isReading))
  const timer = setInterval(() => {
    if (isReading && !isTight && performance.now() < SAVE_LATEST_MS) return
    v8.setFlagsFromString("--memory-saver-mode")
    clearInterval(timer)
  }, SAVE_AFTER_MS).unref()
}

/** The service as it is here: a fresh bundle, its sources, or in an installed package what they were compiled to. */
const service = () =>
  freshBundle() ?? (existsSync(new URL("../src/main.ts", import.meta.url)) ? "../src/main.ts" : "../dist/main.js")

/** Builds the pages in a process of its own: the builder takes 150 MB, which the service would keep. */
const buildPages = () =>
  spawnSync(process.execPath, [fileURLToPath(new URL("web.mjs", import.meta.url))], { stdio: "inherit" })

if (Number(process.versions.node.split(".")[0]) >= 24) {
  // Before the cache of compiled code, which depends on the flags.
  beginYoung()
  keepCompiled()
  saveMemory()
  // Commands other than the service need no pages.
  const [first] = process.argv.slice(2)
  if ((first === undefined || first.startsWith("-")) && !isBuilt()) buildPages()
  const past = recordedPast()
  if (past !== null) process.env.SIMULATOR_PAST ??= past
  await import(service())
} else {
  process.stderr.write(
    "Fathom needs Node 24. `npm ci` brings one for most systems; otherwise install it from nodejs.org.\n"
  )
  process.exitCode = 1
}
