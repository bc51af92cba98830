/** The young garbage of this thread's heap, and a way to collect it before V8 has to. */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Bytes of the young space in use: live objects, and garbage that was not collected yet. */
export const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_used_size ?? 0

type Collect = (options: { readonly type: "minor"; readonly execution: "sync" }) => void

const isCollect = (value: unknown): value is Collect => typeof value === "function"

const newContextsCollect = (): unknown => runInNewContext("globalThis.gc")

/** V8's own function. Contexts have it that are made while the flag is set, which it stays if the process began with it. */
const collectOf = (): Collect | null => {
  const known = newContextsCollect()
  if (isCollect(known)) {
    return known
  }
  setFlagsFromString("--expose-gc")
  const found = newContextsCollect()
  setFlagsFromString("--no-expose-gc")
  return isCollect(found) ? found : null
}

/**
 * Makes the function that collects the young garbage. It stops the thread for as long as the live young objects take to copy.
 * Where V8 does not offer that, the function does nothing.
 */
export const youngCollector = (): (() => void) => {
  const collect = collectOf()
  return () => collect?.({ type: "minor", execution: "sync" })
}
