import type { CopyFill, FilledCopy } from "../../api/schemas/Copying.ts"

/** The copy that a fill adds to its position; null unless it is filled. */
export const filledCopyOf = ({ execution, followId, id, leader, mint, side, status }: CopyFill): FilledCopy | null => {
  if (status !== "filled" || execution === null) {
    return null
  }
  const { atMs, feeUsdNanos, inAmount, outAmount, slot, valueUsdNanos } = execution
  const amount = side === "buy" ? outAmount : inAmount
  return { id, followId, mint, side, leaderSlot: leader.slot, slot, atMs, amount, valueUsdNanos, feeUsdNanos }
}

/** Negative when `a` happened first. Within a slot the order of the leaders' trades decides, then the ids. */
export const inOrder = (a: FilledCopy, b: FilledCopy): number =>
  a.slot - b.slot || a.leaderSlot - b.leaderSlot || (a.id < b.id ? -1 : 1)
