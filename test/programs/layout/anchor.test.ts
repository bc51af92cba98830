import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import {
  ANCHOR_AMM_CONFIG,
  ANCHOR_POOL_STATE,
  ANCHOR_SWAP,
  ANCHOR_SWAP_EVENT,
  ANCHOR_SWAP_V2
} from "../../../src/programs/layout/anchor.ts"
import {
  DYNAMIC_ARRAY_DISCRIMINATOR,
  FIXED_ARRAY_DISCRIMINATOR,
  ORACLE_DISCRIMINATOR,
  WHIRLPOOL_DISCRIMINATOR
} from "../../../src/programs/orca/whirlpoolLayout.ts"
import { BITMAP_EXTENSION_DISCRIMINATOR, CLMM_ARRAY_DISCRIMINATOR } from "../../../src/programs/raydium/clmmLayout.ts"

const discriminatorOf = (name: string) => createHash("sha256").update(name).digest("hex").slice(0, 16)

describe("a discriminator", () => {
  it.each([
    ["global:swap", ANCHOR_SWAP],
    ["global:swap_v2", ANCHOR_SWAP_V2],
    ["event:SwapEvent", ANCHOR_SWAP_EVENT],
    ["account:PoolState", ANCHOR_POOL_STATE],
    ["account:AmmConfig", ANCHOR_AMM_CONFIG],
    ["account:TickArrayState", CLMM_ARRAY_DISCRIMINATOR],
    ["account:TickArrayBitmapExtension", BITMAP_EXTENSION_DISCRIMINATOR],
    ["account:Whirlpool", WHIRLPOOL_DISCRIMINATOR],
    ["account:TickArray", FIXED_ARRAY_DISCRIMINATOR],
    ["account:DynamicTickArray", DYNAMIC_ARRAY_DISCRIMINATOR],
    ["account:Oracle", ORACLE_DISCRIMINATOR]
  ])("is the start of the hash of %s", (name, discriminator) => {
    assert.strictEqual(discriminator, discriminatorOf(name))
  })
})
