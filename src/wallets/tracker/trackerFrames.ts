/** Frames of the tracker. */
import { type AlertEvent, firingOf } from "../../api/schemas/Alert.ts"
import type { LiveEvent, PnlBody, SnapshotBody } from "../../api/schemas/LiveFrame.ts"
import type { TrackerTrade } from "../../api/schemas/Tracker.ts"
import { encodeFrame, encodeFrames, HEAD_BYTES, type SharedFrame } from "../../live/frames.ts"

/** Maximum length of a frame, in bytes. */
export const MOST_FRAME_BYTES = 256 * 1024

const digits = (amount: bigint | null): string | null => (amount === null ? null : amount.toString())

const feesJson = (fees: TrackerTrade["fees"]) => ({
  priorityLamports: digits(fees.priorityLamports),
  tipLamports: digits(fees.tipLamports),
  frontEndUsd: fees.frontEndUsd,
  frontEndLamports: digits(fees.frontEndLamports)
})

const tradeJson = (trade: TrackerTrade): string =>
  JSON.stringify({ ...trade, amount: digits(trade.amount), fees: feesJson(trade.fees) })

const quantitiesJson = ({ inherited, known, received, unpriced }: PnlBody["quantities"]) => ({
  known: digits(known),
  inherited: digits(inherited),
  received: digits(received),
  unpriced: digits(unpriced)
})

const pnlJson = (pnl: PnlBody): string =>
  JSON.stringify({ ...pnl, holding: digits(pnl.holding), quantities: quantitiesJson(pnl.quantities) })

const bodyJson = (event: LiveEvent): string => {
  switch (event.type) {
    case "trade": {
      const { amount, fees, type: _, ...rest } = event.body
      return JSON.stringify({ ...rest, amount: digits(amount), fees: feesJson(fees) })
    }
    case "balance_update":
      return JSON.stringify({ ...event.body, balance: digits(event.body.balance) })
    case "pnl":
      return pnlJson(event.body)
    case "pnl_summary":
      return JSON.stringify(event.body)
  }
}

export const framesOf = (events: ReadonlyArray<LiveEvent>): ReadonlyArray<SharedFrame> =>
  encodeFrames(events, (event) => ({ type: event.type, json: bodyJson(event) }))

export const firingFrames = (events: ReadonlyArray<AlertEvent>): ReadonlyArray<SharedFrame> =>
  encodeFrames(events, (event) => ({ type: "alert_fired", json: JSON.stringify(firingOf(event)) }))

/** The first texts that fit into `bytes`, commas included, as a JSON array, and the bytes left. */
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
 * The snapshot as a frame of at most `MOST_FRAME_BYTES`. Wallets have priority, then summaries, trades and positions.
 * Each list keeps its first entries.
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
  return [encodeFrame({ type: "snapshot", json: `${fixed.slice(0, -1)},${listed}}` })]
}
