/**
 * Programs and pools from a node over JSON-RPC, with calls that every provider allows. Pools come from the program's
 * newest transactions, because most providers refuse to search all of them.
 */
import { Duration, Effect, Redacted, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { type Address, addressOf } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { accountFromJson } from "../../src/chain/rpc/accountJson.ts"
import { deployedProgram, programDataAddress } from "../../src/quotes/execution/deployment.ts"
import { makeRpcCall } from "../../src/chain/rpc/rpcHttp.ts"
import { coinOf, derive } from "../../src/quotes/execution/decodeFixture.ts"
import { AT_ONCE, type PoolSnapshot, readSnapshot } from "../../src/quotes/execution/poolSnapshot.ts"
import type { PoolToProve } from "../../src/quotes/execution/proveVenue.ts"
import type { ProofSource } from "./sources.ts"
import type { Venue } from "../../src/quotes/execution/swapVenue.ts"

/** Transactions read for each wanted pool, and the least in total. */
const TRANSACTIONS_PER_POOL = 5
const LEAST_TRANSACTIONS = 20

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const fieldOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const addressesOf = (value: unknown): ReadonlyArray<Address> =>
  listOf(value).flatMap((text) => (typeof text === "string" ? (addressOf(text) ?? []) : []))

/** Every account that a transaction of `getTransaction` names. */
const accountsNamedBy = (transaction: unknown): ReadonlyArray<Address> => {
  const loaded = fieldOf(fieldOf(transaction, "meta"), "loadedAddresses")
  const message = fieldOf(fieldOf(transaction, "transaction"), "message")
  return [
    ...addressesOf(fieldOf(message, "accountKeys")),
    ...addressesOf(fieldOf(loaded, "writable")),
    ...addressesOf(fieldOf(loaded, "readonly"))
  ]
}

/** Reads accounts together; null for one that does not exist. */
type AccountsRead = ReadonlyMap<Address, OnChainAccount | null>
type ReadAccounts = (addresses: ReadonlyArray<Address>) => Promise<AccountsRead>

const settings = { concurrency: 4, retries: 5, timeout: Duration.seconds(60) }

const makeCalls = async (url: string) => {
  const node = { host: new URL(url).host, rpcUrl: Redacted.make(url), wsUrl: Redacted.make(url) }
  const rpc = await Effect.runPromise(
    makeRpcCall(settings, { node: () => node }).pipe(Effect.provide(FetchHttpClient.layer))
  )
  const call = (method: string, params: ReadonlyArray<unknown>): Promise<unknown> =>
    Effect.runPromise(Effect.mapError(rpc(method, params), ({ detail }) => new Error(detail)))
  const read: ReadAccounts = async (addresses) => {
    const options = { encoding: "base64", commitment: "confirmed" }
    const response = await call("getMultipleAccounts", [addresses, options])
    const slot = Number(fieldOf(fieldOf(response, "context"), "slot"))
    const values = listOf(fieldOf(response, "value"))
    if (values.length !== addresses.length) {
      throw new Error(`getMultipleAccounts: ${values.length} accounts for ${addresses.length} addresses`)
    }
    return new Map(
      addresses.map((address, index) => {
        const state = accountFromJson(address, slot, values[index])
        if (Result.isFailure(state)) {
          throw new Error(`getMultipleAccounts: ${address}: ${state.failure}`)
        }
        return [address, state.success.account] as const
      })
    )
  }
  return { call, read }
}

/** Programs and pools of the node at this URL. */
export const nodeSource = async (url: string): Promise<ProofSource> => {
  const { call, read } = await makeCalls(url)

  const snapshotOf = (venue: Venue, { address, foundBy }: PoolToProve): Promise<PoolSnapshot | null> =>
    Effect.runPromise(readSnapshot(venue, address, (addresses) => Effect.promise(() => read(addresses)), foundBy))

  const poolsIn = async ({ program }: Venue, signature: unknown): Promise<ReadonlyArray<PoolToProve>> => {
    const options = { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 0 }
    const named = [...new Set(accountsNamedBy(await call("getTransaction", [signature, options])))]
    const pools: Array<PoolToProve> = []
    for (let from = 0; from < named.length; from += AT_ONCE) {
      const accounts = await read(named.slice(from, from + AT_ONCE))
      const found = [...accounts.values()].filter((one) => one !== null)
      pools.push(
        ...found
          .filter((one) => program.isPool(one))
          .map((pool) => ({ address: pool.address, foundBy: coinOf(program, pool, named) }))
      )
    }
    return pools
  }

  const pools = async (venue: Venue, count: number): Promise<ReadonlyArray<PoolSnapshot>> => {
    const limit = Math.min(1000, LEAST_TRANSACTIONS + TRANSACTIONS_PER_POOL * count)
    const options = { limit, commitment: "confirmed" }
    const signatures = listOf(await call("getSignaturesForAddress", [venue.program.programId, options]))
    const seen = new Set<Address>()
    const found: Array<PoolSnapshot> = []
    for (const entry of signatures) {
      if (found.length >= count) {
        break
      }
      for (const pool of await poolsIn(venue, fieldOf(entry, "signature"))) {
        if (!seen.has(pool.address) && found.length < count) {
          seen.add(pool.address)
          const snapshot = await snapshotOf(venue, pool)
          found.push(...(snapshot === null ? [] : [snapshot]))
        }
      }
    }
    return found
  }

  return {
    program: async (programId) => {
      const accounts = await read([programId, programDataAddress(programId, derive)])
      const program = deployedProgram(programId, (address) => accounts.get(address))
      if ("reason" in program) {
        throw new Error(program.reason)
      }
      return program
    },
    pools
  }
}
