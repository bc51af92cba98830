/**
 * Compares the quotes of a process that has missed writes with another process's. It must report the gap, or have
 * closed it.
 */
import { Effect, Schedule } from "effect"
import { ask, at } from "../repair/answers.ts"
import { quotedPaths } from "./recovery.ts"
import type { Scene } from "./scene.ts"

type QuoteAnswer = Awaited<ReturnType<typeof ask>>

/** Slots by which a process may know of a slot before it has the writes of it: the one that goes on, and the one that is not confirmed. */
const UNSETTLED_SLOTS = 2

const poolsOf = (content: unknown): string => {
  const route = at(content, "route")
  return Array.isArray(route) ? route.map((hop: unknown) => at(hop, "pool")).join() : ""
}

/**
 * True when a quote knows of the slot (`contextSlot`) of the account state of an earlier quote of the same pools by another
 * process, and is made of older state that pays another amount. A refusal, and a quote that knows of no such slot, report the gap.
 */
export const hidesGap = (quote: QuoteAnswer, other: QuoteAnswer): boolean => {
  if (quote.status !== 200 || other.status !== 200 || poolsOf(quote.content) !== poolsOf(other.content)) {
    return false
  }
  const otherSlot = Number(at(other.content, "stateSlot"))
  return (
    Number(at(quote.content, "contextSlot")) >= otherSlot + UNSETTLED_SLOTS &&
    Number(at(quote.content, "stateSlot")) < otherSlot &&
    at(quote.content, "outAmount") !== at(other.content, "outAmount")
  )
}

/** Pairs of quotes that were compared, those that the process refused, and those that hide a gap. */
export interface GapLooks {
  compared: number
  refused: number
  hidden: number
}

/** Compares the quotes of one process with the quotes of another `api` process until it is interrupted. */
export const lookForGaps = (scene: Scene, place: number, looks: GapLooks): Effect.Effect<never> => {
  const [secret = ""] = scene.keys.free
  const other = scene.running.findIndex(({ role }, each) => role === "api" && each !== place)
  const paths = quotedPaths(scene)
  let turn = 0
  const look = Effect.promise(async () => {
    const path = paths[turn++ % paths.length] ?? ""
    const asked = (at: number) => ask({ baseUrl: scene.running[at]?.baseUrl ?? "", secret }, { path })
    const expected = await asked(other)
    const found = await asked(place)
    looks.compared += expected.status === 200 && found.status !== 0 ? 1 : 0
    looks.refused += found.status === 503 ? 1 : 0
    looks.hidden += hidesGap(found, expected) ? 1 : 0
  })
  return Effect.andThen(Effect.repeat(look, Schedule.spaced("50 millis")), Effect.never)
}
