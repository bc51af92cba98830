import { useEffect, useState } from "preact/hooks"
import type { Read } from "../data/useRead.ts"
import { ageWords } from "./words.ts"

const SECOND = 1000
/** How many intervals may pass without an answer before the data counts as stale. */
const MISSED = 3

/** The age of the data shown, in words. It becomes a warning when answers stop arriving. */
export const Updated = ({ everyMs, read }: { readonly read: Read<unknown>; readonly everyMs: number }) => {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND)
    return () => clearInterval(timer)
  }, [])
  const { readAtMs } = read
  if (readAtMs === null) {
    return <span class="updated">Not read yet</span>
  }
  const ageMs = Math.max(0, nowMs - readAtMs)
  const isStale = ageMs > MISSED * everyMs
  return (
    <span class={isStale ? "updated late" : "updated"}>
      {isStale ? "Stale: read" : "Read"} {ageWords(ageMs)} ago{isStale && ", no newer answer yet"}
    </span>
  )
}
