/** The service under attack, as every part of the attack sees it, and how a part says what held. */
import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { type TreeUse, treeUse } from "../bench/start/processTree.ts"

/** Keys of the service by what they may do. */
export interface Keys {
  /** Every scope, without a budget that matters. */
  readonly all: string
  /** `md.read` alone, with the budgets of the plan `default`; nothing else uses it. */
  readonly plain: string
  /** `perps.read` alone. */
  readonly perps: string
  /** Every scope but `perps.read`. */
  readonly others: string
}

/** A running service. */
export interface Target {
  readonly baseUrl: string
  readonly port: number
  readonly pid: number
  readonly keys: Keys
  /** A path that opens one session. */
  readonly link: string
  readonly isShort: boolean
  /** A number from 0 to below 1. The same seed gives the same numbers. */
  readonly random: () => number
}

/** A guarantee, and what was seen. */
export interface Verdict {
  readonly property: string
  readonly holds: boolean
  /** What broke it, or the figures that show it. */
  readonly seen: unknown
}

export const verdict = (property: string, holds: boolean, seen: unknown): Verdict => ({ property, holds, seen })

/** A guarantee about many things, which holds when nothing broke it. At most five faults are shown. */
export const none = (property: string, faults: ReadonlyArray<unknown>, of: number): Verdict =>
  verdict(property, faults.length === 0 && of > 0, { of, faults: faults.length, first: faults.slice(0, 5) })

/** An answer that was read to its end. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Longest time for one answer. An answer that takes longer breaks a guarantee. */
const PATIENCE_MS = 30_000

/** Sends a request. An event stream is ended after its head. Status 0 means that no answer came. */
export const ask = async (
  { baseUrl }: Target,
  path: string,
  {
    key,
    ...init
  }: Omit<RequestInit, "headers"> & {
    readonly key?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {}
): Promise<Reply> => {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), PATIENCE_MS)
  try {
    const response = await fetch(baseUrl + path, {
      ...init,
      headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...init.headers },
      redirect: "manual",
      signal: stop.signal
    })
    const { headers, status } = response
    if (headers.get("content-type")?.startsWith("text/event-stream") === true) {
      stop.abort()
      return { status, headers, text: "" }
    }
    return { status, headers, text: await response.text() }
  } catch (error) {
    return { status: 0, headers: new Headers(), text: String(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** Runs a task so many times, `width` at a time. */
export const many = async <A>(count: number, width: number, task: (index: number) => Promise<A>): Promise<Array<A>> => {
  const results: Array<A> = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      results[index] = await task(index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker))
  return results
}

/** How many times each status was answered. */
export const tally = (replies: ReadonlyArray<{ readonly status: number }>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { status } of replies) {
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** Memory and processor time of the service; null on a system that does not tell. */
export const useOf = (pid: number): TreeUse | null => (existsSync("/proc/self/stat") ? treeUse(pid) : null)

/** Processor time in seconds that the service uses while the task runs; 0 where it cannot be measured. */
export const processorSeconds = async <A>({ pid }: Target, task: () => Promise<A>) => {
  const before = useOf(pid)?.serviceSeconds ?? 0
  const result = await task()
  const seconds = (useOf(pid)?.serviceSeconds ?? 0) - before
  return { result, seconds: Math.round(seconds * 100) / 100 }
}

/** A generator of numbers from a text. */
export const seeded = (seed: string): (() => number) => {
  let state = Array.from(seed).reduce(
    (hash, char) => Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193),
    0x811c9dc5
  )
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A text that no other run has. */
export const unique = (): string => randomBytes(12).toString("hex")

/** One element of a list. */
export const oneOf = <A>(list: readonly [A, ...ReadonlyArray<A>], random: () => number): A =>
  list[Math.floor(random() * list.length)] ?? list[0]
