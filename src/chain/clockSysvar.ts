import type { ChainClock } from "../domain/OnChainAccount.ts"
import { Address } from "../domain/Address.ts"

export const CLOCK: Address = Address.make("SysvarC1ock11111111111111111111111111111111")

/**
 * Reads the clock sysvar: slot (u64) at 0, the epoch's start (i64) at 8, epoch (u64) at 16, the leader schedule's epoch
 * (u64) at 24, Unix time in seconds (i64) at 32. Null when there are too few bytes.
 */
export const readClock = (data: Uint8Array): ChainClock | null => {
  if (data.length < 40) {
    return null
  }
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return {
    slot: Number(view.getBigUint64(0, true)),
    epoch: Number(view.getBigUint64(16, true)),
    unixTimestamp: Number(view.getBigInt64(32, true))
  }
}
