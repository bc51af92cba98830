/** A native Solana runtime: an optional package, for one platform only. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createRequire } from "node:module"
import { Address } from "../../src/domain/Address.ts"

interface Surfnet {
  readonly rpcUrl: string
  readonly wsUrl: string
  setAccount(address: string, lamports: number, data: ReadonlyArray<number>, owner: string): void
  resetAccount(address: string): void
  stop(): void
}

interface SurfnetClass {
  startWithConfig(config: object): Surfnet
  newKeypair(): { readonly publicKey: string }
}

const load = (): SurfnetClass | null => {
  try {
    return createRequire(import.meta.url)("@solana/surfpool-linux-x64-gnu").Surfnet
  } catch {
    return null
  }
}

const loaded = load()

/** True with such a runtime here. */
export const hasSurfnet = loaded !== null

/** A runtime that finishes ten slots a second until the scope closes. */
export const surfnet = Effect.acquireRelease(
  Effect.sync(() => {
    const node = loaded?.startWithConfig({ offline: true, slotTimeMs: 100, blockProductionMode: "clock" })
    return node ?? assert.fail("surfpool is not installed")
  }),
  (node) => Effect.sync(() => node.stop())
)

/** A fresh address. */
export const newAddress = (): Address => Address.make(loaded?.newKeypair().publicKey ?? "")
