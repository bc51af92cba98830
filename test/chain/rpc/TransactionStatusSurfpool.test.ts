import { assert, describe, it } from "@effect/vitest"
import bs58 from "bs58"
import { Duration, Effect, Schedule } from "effect"
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { Signature } from "../../../src/domain/Signature.ts"
import { TransactionStatus } from "../../../src/chain/rpc/TransactionStatus.ts"
import { at, call } from "../../simulator/node/client.ts"
import { hasSurfnet, surfnet } from "../../support/surfnet.ts"
import { portTo, signature as unused } from "./statusNode.ts"

interface Wallet {
  readonly address: Uint8Array
  readonly key: KeyObject
}

const newWallet = (): Wallet => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  return { address: publicKey.export({ format: "der", type: "spki" }).subarray(-32), key: privateKey }
}

const SYSTEM = new Uint8Array(32)
const RECIPIENT = new Uint8Array(32).fill(9)

/** A signed legacy transaction with one transfer of the System program. */
const transfer = ({ address, key }: Wallet, lamports: bigint, blockhash: string) => {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2, 0)
  data.writeBigUInt64LE(lamports, 4)
  // One signer, and the program is read-only. Then the accounts, the hash, and one instruction of program 2 with
  // accounts 0 and 1.
  const message = Buffer.concat([
    Uint8Array.of(1, 0, 1, 3),
    address,
    RECIPIENT,
    SYSTEM,
    bs58.decode(blockhash),
    Uint8Array.of(1, 2, 2, 0, 1, data.length),
    data
  ])
  return Buffer.concat([Uint8Array.of(1), sign(null, message, key), message]).toString("base64")
}

const patience = Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 300 }))

/** The status of a sent transaction, once the node knows it. */
const settled = (id: unknown) =>
  TransactionStatus.use(({ find }) => find(Signature.make(String(id)))).pipe(
    Effect.retry({ schedule: patience, while: ({ _tag }) => _tag === "UnknownTransaction" })
  )

const pay = Effect.fnUntraced(function* (rpcUrl: string, wallet: Wallet, lamports: bigint) {
  const latest = yield* call(rpcUrl, "getLatestBlockhash")
  const sent = transfer(wallet, lamports, String(at(latest, "result", "value", "blockhash")))
  const options = { encoding: "base64", skipPreflight: true }
  return yield* settled(at(yield* call(rpcUrl, "sendTransaction", sent, options), "result"))
})

const payments = Effect.fnUntraced(function* (rpcUrl: string) {
  const wallet = newWallet()
  const drop = yield* call(rpcUrl, "requestAirdrop", bs58.encode(wallet.address), 2_000_000_000)
  yield* settled(at(drop, "result"))

  const paid = yield* pay(rpcUrl, wallet, 1_000_000_000n)
  assert.deepInclude(paid, { feeLamports: 5000n, computeUnits: 150, error: null })
  // The runtime does not wait for the test. On a slow machine the transaction may already be finalized.
  assert.include(["confirmed", "finalized"], paid.state)
  assert.strictEqual(paid.terminal, paid.confirmations === null)

  const failed = yield* pay(rpcUrl, wallet, 9_000_000_000n)
  assert.deepInclude(failed, { state: "failed", feeLamports: 5000n, computeUnits: 150 })
  assert.deepStrictEqual(failed.error, {
    code: "insufficient_funds",
    instructionIndex: 0,
    customCode: 1,
    message: "Instruction 0 failed with error 1 of 11111111111111111111111111111111."
  })
  assert.isAtLeast(failed.slot, paid.slot)

  const { find } = yield* TransactionStatus
  assert.strictEqual((yield* Effect.flip(find(unused)))._tag, "UnknownTransaction")
})

describe.skipIf(!hasSurfnet)("TransactionStatusRpc (needs the optional package surfpool)", () => {
  it.live("reads success and failure from an independent Solana runtime", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* surfnet
      yield* payments(rpcUrl).pipe(Effect.provide(portTo({ rpcUrl, timeout: Duration.seconds(10) })))
    })
  )
})
