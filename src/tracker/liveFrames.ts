/** Frames as they stand on the wire: what they say is spelled once, whoever they are for. */
import type { ControlFrame, LiveEvent, PnlBody, SnapshotBody } from "../domain/wallets/LiveFrame.ts"
import type { TrackerTrade } from "../domain/wallets/Tracker.ts"

/** How long a frame may be, in bytes. */
export const MOST_FRAME_BYTES = 256 * 1024
/** Room for what stands before what is shared. */
const HEAD_BYTES = 100

/** A frame without its place in a stream. The bytes may be given up, when it is too old to be sent again. */
export interface SharedFrame {
  readonly type: LiveEvent["type"] | "snapshot"
  /** How many bytes follow the head. */
  readonly length: number
  /** Where they are, among others of the same moment; null once they were given up. */
  slab: Buffer | null
  readonly at: number
}

/** Copies what follows the head; the place after it. */
export const copyRest = ({ at, length, slab }: SharedFrame, target: Buffer, to: number): number =>
  to + (slab?.copy(target, to, at, at + length) ?? 0)

/** What is to become a frame: the JSON of an object. */
interface Draft {
  readonly type: SharedFrame["type"]
  readonly json: string
}

const COMMA = 44

/** Spells them into one piece of memory, each with a comma in place of its first brace. */
const spell = (drafts: ReadonlyArray<Draft>): ReadonlyArray<SharedFrame> => {
  const slab = Buffer.allocUnsafeSlow(drafts.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0))
  let at = 0
  return drafts.map(({ json, type }) => {
    const length = slab.write(json, at)
    slab[at] = COMMA
    at += length
    return { type, length, slab, at: at - length }
  })
}

/** What stands before the shared part of a frame. */
export const headOf = (type: SharedFrame["type"], seq: number, sentAtMs: number): string =>
  `{"type":"${type}","seq":${seq},"sentAtMs":${sentAtMs}`

const digits = (amount: bigint | null): string | null => (amount === null ? null : amount.toString())

const tradeJson = (trade: TrackerTrade): string => JSON.stringify({ ...trade, amount: digits(trade.amount) })

const pnlJson = (pnl: PnlBody): string => JSON.stringify({ ...pnl, holding: digits(pnl.holding) })

const bodyJson = (event: LiveEvent): string => {
  switch (event.type) {
    case "trade": {
      const { amount, type: _, ...rest } = event.body
      return JSON.stringify({ ...rest, amount: digits(amount) })
    }
    case "balance_update":
      return JSON.stringify({ ...event.body, balance: digits(event.body.balance) })
    case "pnl":
      return pnlJson(event.body)
    case "pnl_summary":
      return JSON.stringify(event.body)
  }
}

/** The events as frames. */
export const framesOf = (events: ReadonlyArray<LiveEvent>): ReadonlyArray<SharedFrame> =>
  spell(events.map((event) => ({ type: event.type, json: bodyJson(event) })))

/** As many of the texts as fit into so many bytes, commas included, and what is left. */
const fitting = (texts: ReadonlyArray<string>, bytes: number) => {
  let left = bytes
  let count = 0
  for (const text of texts) {
    left -= Buffer.byteLength(text) + 1
    if (left < 0) {
      break
    }
    count++
  }
  const kept = texts.slice(0, count)
  return { text: `[${kept.join(",")}]`, left: kept.reduce((sum, text) => sum - Buffer.byteLength(text) - 1, bytes) }
}

/**
 * The snapshot as a frame that is not too long. What a client cannot do without comes first; of the others the first ones
 * stay: summaries, then trades, then positions.
 */
export const snapshotFrame = ({
  pnl,
  summaries,
  trades,
  wallets,
  ...rest
}: SnapshotBody): ReadonlyArray<SharedFrame> => {
  const fixed = JSON.stringify(rest)
  const lists = ',"wallets":[],"trades":[],"pnl":[],"summaries":[]'.length
  const room = MOST_FRAME_BYTES - HEAD_BYTES - Buffer.byteLength(fixed) - lists
  const all = fitting(
    wallets.map((wallet) => JSON.stringify(wallet)),
    room
  )
  const sums = fitting(
    summaries.map((summary) => JSON.stringify(summary)),
    all.left
  )
  const newest = fitting(trades.map(tradeJson), sums.left)
  const positions = fitting(pnl.map(pnlJson), newest.left)
  const listed = `"wallets":${all.text},"trades":${newest.text},"pnl":${positions.text},"summaries":${sums.text}`
  return spell([{ type: "snapshot", json: `${fixed.slice(0, -1)},${listed}}` }])
}

/** A control frame as text. */
export const controlText = (frame: ControlFrame): string => JSON.stringify(frame)
