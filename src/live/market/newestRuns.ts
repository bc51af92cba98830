/** Frames for a slow reader of a channel with newest frames only, once it has caught up. */
import type { LiveGap } from "../../api/schemas/LiveFrame.ts"
import { encodeFrame, type FrameRun, type SharedFrame } from "../frames.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import { type Subscription, WHOLE } from "./Topic.ts"

/** The frame that replaces frames that are no longer held. */
const expiredFrame = (nowMs: number): SharedFrame => {
  const data: LiveGap = { fromMs: null, toMs: nowMs, reason: "expired" }
  return encodeFrame({ type: "gap", json: jsonOf({ data }) })
}

/**
 * The newest frame, after the closed candles and gaps since the last frame that was sent. One gap stands for all frames
 * that are no longer held.
 */
export const newestRuns = ({ base, mark, sent, topic }: Subscription, nowMs: number): ReadonlyArray<FrameRun> => {
  const { first, frames } = topic.since(sent)
  const isSent = ({ type }: SharedFrame, i: number) => i === frames.length - 1 || WHOLE.has(type)
  const forgotten = topic.terms.channel === "candles" && first > sent + 1 ? first - 1 : -1
  const lost = frames.findLastIndex((frame, i) => frame.memory === null && isSent(frame, i))
  const gap = lost === -1 ? forgotten : first + lost
  const chosen = frames.flatMap((frame, i) =>
    first + i > gap && isSent(frame, i) ? [[first + i, frame] as const] : []
  )
  let last = sent
  return [...(gap === -1 ? [] : [[gap, expiredFrame(nowMs)] as const]), ...chosen].map(([number, frame]) => {
    const skipped = number - last - 1
    last = number
    return { frames: [frame], firstSeq: number - base, mark: skipped === 0 ? mark : `${mark},"skipped":${skipped}` }
  })
}
