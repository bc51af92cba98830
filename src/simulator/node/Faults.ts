import { Config, Duration, Effect, Schema } from "effect"
import { countSetting, durationSetting, shareSetting } from "../../domain/countSetting.ts"
import { type Ailing, makeAiling } from "./ailing.ts"

/** What is wrong with the node. */
export interface Ailment {
  /**
   * How HTTP requests and handshakes fail. `frozen` accepts them, never answers, and goes silent on open sockets;
   * `redirect` answers with another address.
   */
  readonly http: "ok" | "503" | "429" | "frozen" | "redirect"
  /** `refused`: new WebSockets are refused; open ones stay. */
  readonly sockets: "ok" | "refused"
  /** `1970`: block times come from a clock that starts at the Unix epoch. The clock sysvar stays right. */
  readonly blockTimes: "ok" | "1970"
  /** Delays every response and notification. */
  readonly lag: Duration.Duration
  /** Delays every response to `getBlock`, in milliseconds. */
  readonly blockLagMs: number
  /** Sends every notification twice. */
  readonly duplicates: boolean
  /**
   * How `getProgramAccounts` is refused. `excluded`: the program is not indexed (-32010). `too_many`: it has too many
   * accounts (-32602). `disabled`: the method is disabled (HTTP 410). `forbidden`: HTTP 403.
   */
  readonly searches: "ok" | "excluded" | "too_many" | "disabled" | "forbidden"
  /** Swaps the notifications of slots in pairs: a slot's notifications come after the next slot's. */
  readonly reorder: boolean
  /** `truncated`: accounts have half their data. `garbled`: the data is not in the encoding that it claims. */
  readonly accounts: "ok" | "truncated" | "garbled"
  /** Drops all sockets each time this many slots have passed; 0 never does. */
  readonly dropEverySlots: number
  /** Skips one slot each time this many have passed; 0 never does. */
  readonly skipEverySlots: number
  /** Share of `getBlock` calls that fail, from 0 to 1. The same calls fail in every run. */
  readonly blockFailures: number
  /** Responses for blocks of these slots end after half their text; null for none. */
  readonly truncatedBlocks: SlotRange | null
  /** Blocks before this slot are gone; 0 for none. */
  readonly prunedBelow: number
  /** The node answers and slots pass, but no blocks are produced. */
  readonly halted: boolean
}

/** Both ends are included. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** A node without faults. */
export const healthy: Ailment = {
  http: "ok",
  sockets: "ok",
  blockTimes: "ok",
  lag: Duration.zero,
  blockLagMs: 0,
  duplicates: false,
  searches: "ok",
  reorder: false,
  accounts: "ok",
  dropEverySlots: 0,
  skipEverySlots: 0,
  blockFailures: 0,
  truncatedBlocks: null,
  prunedBelow: 0,
  halted: false
}

/** `100-200` means the slots from 100 to 200. */
const SlotRangeText = Schema.String.check(Schema.isPattern(/^\d{1,15}-\d{1,15}$/u))

const rangeOf = (text: string): SlotRange => {
  const [from = 0, to = 0] = text.split("-").map(Number)
  return { from, to }
}

/**
 * The faults at the start, from settings: `SIMULATOR_FAULTS_HTTP=503`, `SIMULATOR_FAULTS_LAG="250 millis"` and so on.
 */
export const ailmentConfig: Config.Config<Ailment> = Config.all({
  http: Config.Literals(["ok", "503", "429", "frozen", "redirect"], "HTTP").pipe(Config.withDefault(healthy.http)),
  sockets: Config.Literals(["ok", "refused"], "SOCKETS").pipe(Config.withDefault(healthy.sockets)),
  blockTimes: Config.Literals(["ok", "1970"], "BLOCK_TIMES").pipe(Config.withDefault(healthy.blockTimes)),
  lag: durationSetting("LAG").pipe(Config.withDefault(healthy.lag)),
  blockLagMs: durationSetting("BLOCK_LAG").pipe(Config.map(Duration.toMillis), Config.withDefault(healthy.blockLagMs)),
  duplicates: Config.Boolean("DUPLICATES").pipe(Config.withDefault(healthy.duplicates)),
  searches: Config.Literals(["ok", "excluded", "too_many", "disabled", "forbidden"], "SEARCHES").pipe(
    Config.withDefault(healthy.searches)
  ),
  reorder: Config.Boolean("REORDER").pipe(Config.withDefault(healthy.reorder)),
  accounts: Config.Literals(["ok", "truncated", "garbled"], "ACCOUNTS").pipe(Config.withDefault(healthy.accounts)),
  dropEverySlots: countSetting("DROP_EVERY_SLOTS", healthy.dropEverySlots),
  skipEverySlots: countSetting("SKIP_EVERY_SLOTS", healthy.skipEverySlots),
  blockFailures: shareSetting("BLOCK_FAILURES", healthy.blockFailures),
  truncatedBlocks: Config.schema(SlotRangeText, "TRUNCATED_BLOCKS").pipe(
    Config.map((text): SlotRange | null => rangeOf(text)),
    Config.withDefault(healthy.truncatedBlocks)
  ),
  prunedBelow: countSetting("PRUNED_BELOW", healthy.prunedBelow),
  halted: Config.Boolean("HALTED").pipe(Config.withDefault(healthy.halted))
}).pipe(Config.nested("SIMULATOR_FAULTS"))

/** Controls the faults of a running node. */
export interface Faults extends Ailing<Ailment> {
  /** Drops every open WebSocket without a closing handshake. Clients may reconnect at once. */
  readonly dropSockets: Effect.Effect<void>
  /** Starts a new ledger at a low slot with another genesis hash, and drops every connection. */
  readonly resetLedger: Effect.Effect<void>
  /** Skips this many slots after the slot that has already begun. */
  readonly skipSlots: (slots: number) => Effect.Effect<void>
  /** Applies the recurring faults after a slot is finished. */
  readonly strike: (slot: number) => void
}

const isDue = (slot: number, every: number): boolean => every > 0 && slot % every === 0

/** Makes the faults of one node. Some of them need actions that only the node can take. */
export const makeFaults = (
  initial: Ailment,
  node: {
    readonly dropSockets: () => void
    readonly skipSlots: (slots: number) => void
    readonly resetLedger: () => void
  }
): Faults => {
  const ailing = makeAiling(initial, healthy)
  return {
    ...ailing,
    dropSockets: Effect.sync(node.dropSockets),
    resetLedger: Effect.sync(() => {
      node.resetLedger()
      node.dropSockets()
    }),
    skipSlots: (slots) => Effect.sync(() => node.skipSlots(slots)),
    strike: (slot) => {
      const current = ailing.current()
      if (isDue(slot, current.dropEverySlots)) {
        node.dropSockets()
      }
      if (isDue(slot, current.skipEverySlots)) {
        node.skipSlots(1)
      }
    }
  }
}
