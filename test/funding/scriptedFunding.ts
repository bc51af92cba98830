/** A funding service over a real socket that answers by a script. */
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { Deferred, Duration, Effect, Layer, Redacted } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import type { AccountWallet } from "../../src/api/schemas/Funding.ts"
import { FundingClient } from "../../src/funding/FundingClient.ts"
import * as FundingClientHttp from "../../src/funding/FundingClientHttp.ts"
import type { FundingOptions } from "../../src/funding/fundingSettings.ts"

/** A request to the service, with path and query as sent. */
export interface ReceivedCall {
  readonly url: string
  readonly authorization: string | undefined
}

/** A whole reply. */
type Reply = Effect.Effect<HttpServerResponse.HttpServerResponse>

const isReply = (scripted: unknown): scripted is Reply => Effect.isEffect(scripted)

/** Answers to the four requests, each a JSON value or a whole reply. */
export interface Script {
  readonly wallets: unknown
  readonly catalog: unknown
  readonly balances: unknown
  readonly deposit: unknown
}

export const OWNER = "acct_1"
export const NOW = 1_791_633_600_000

export const solWallet: AccountWallet = {
  walletId: "w_sol",
  family: "solana" as const,
  address: "HYu24Cap85NDnhpdCUg6epEFEjWsqhdrtZH7PsP76vvP",
  label: "Main",
  isPrimary: true,
  verified: true,
  createdAtMs: 1_780_000_000_000
}
export const evmWallet: AccountWallet = {
  ...solWallet,
  walletId: "w_evm",
  family: "evm" as const,
  address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
  label: null
}
export const unverified: AccountWallet = { ...evmWallet, walletId: "w_new", isPrimary: false, verified: false }

export const solana = { id: "solana-mainnet", name: "Solana", family: "solana" as const, memoRequired: false }
export const custody = { id: "solana-custody", name: "Custody", family: "solana" as const, memoRequired: true }
export const base = { id: "base-mainnet", name: "Base", family: "evm" as const, memoRequired: false }

const asset = (network: string, address: string) => ({
  id: `${network}/usdc`,
  network,
  address,
  symbol: "USDC",
  decimals: 6,
  native: false
})
export const solUsdc = asset("solana-mainnet", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
export const custodyUsdc = asset("solana-custody", solUsdc.address)
export const baseUsdc = asset("base-mainnet", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")

const minimumAtomic = "1000000"
export const solListed = { ...solUsdc, minimumAtomic }
export const baseListed = { ...baseUsdc, minimumAtomic: null }

export const wallets = { owner: OWNER, wallets: [solWallet, evmWallet, unverified], asOf: NOW }
export const catalog = {
  networks: [
    { network: solana, assets: [solListed] },
    { network: custody, assets: [{ ...custodyUsdc, minimumAtomic }] },
    { network: base, assets: [baseListed] }
  ],
  asOf: NOW
}

export const balance = {
  walletId: "w_sol",
  network: solana,
  asset: solListed,
  balance: "2500000",
  valueUsd: "2.5",
  priceUsd: "1",
  priceAsOf: NOW - 5,
  asOf: NOW - 9,
  reason: null
}
export const balances = { owner: OWNER, balances: [balance], unread: [], asOf: NOW }

const ownedWallet = ({ address, family, walletId }: AccountWallet) => ({ walletId, family, address })

const SOL_ADDRESS = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
export const solDeposit = {
  ownedWallet: ownedWallet(solWallet),
  network: solana,
  asset: solUsdc,
  address: SOL_ADDRESS,
  qrPayload: `solana:${SOL_ADDRESS}?spl-token=${solUsdc.address}`,
  memoRequired: false,
  memo: null,
  minimumAtomic,
  mismatchWarning: "Send only USDC.",
  asOf: NOW
}
export const custodyDeposit = {
  ...solDeposit,
  network: custody,
  asset: custodyUsdc,
  memoRequired: true,
  memo: "0042"
}
const EVM_ADDRESS = "0x71C7656EC7ab88b098defB751B7401B5f6d8976F"
export const baseDeposit = {
  ...solDeposit,
  ownedWallet: ownedWallet(evmWallet),
  network: base,
  asset: baseUsdc,
  address: EVM_ADDRESS,
  qrPayload: `ethereum:${EVM_ADDRESS.toLowerCase()}`,
  minimumAtomic: null
}

export const healthy: Script = { wallets, catalog, balances, deposit: { owner: OWNER, deposit: solDeposit } }

/** A reply that is not JSON. */
export const response = (status: number, body = "", headers: Record<string, string> = {}): Reply =>
  Effect.succeed(HttpServerResponse.text(body, { status, headers }))

/** A reply of bytes that need not be text. */
export const bytes = (status: number, body: Uint8Array): Reply =>
  Effect.succeed(HttpServerResponse.uint8Array(body, { status, contentType: "application/json" }))

const questionOf = (path: string): keyof Script | undefined => {
  const last = path.split("/").at(-1)
  return last === "deposit-address"
    ? "deposit"
    : last === "wallets" || last === "catalog" || last === "balances"
      ? last
      : undefined
}

/** Starts a service on a free port of the loopback interface. It stops when the scope closes. */
export const scriptedFunding = Effect.gen(function* () {
  const over = yield* Deferred.make<never>()
  const asked: Array<ReceivedCall> = []
  let script = healthy
  const server = yield* NodeHttpServer.make(createServer, {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true
  })
  yield* server.serve(
    Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      asked.push({ url, authorization: headers["authorization"] })
      const question = questionOf(new URL(url, "http://x").pathname)
      const scripted = question === undefined ? response(418) : script[question]
      return yield* isReply(scripted) ? scripted : Effect.succeed(HttpServerResponse.jsonUnsafe(scripted))
    })
  )
  yield* Effect.addFinalizer(() => Deferred.interrupt(over))
  return {
    url: HttpServer.formatAddress(server.address),
    asked,
    /** Never answers. */
    silence: Deferred.await(over),
    /** Changes the given answers. The others are valid. */
    say: (change: Partial<Script>) => {
      script = { ...healthy, ...change }
    }
  }
})

export type Service = Effect.Success<typeof scriptedFunding>

/** The client of the service at this address. */
export const portTo = (options: FundingOptions) =>
  FundingClientHttp.layer({
    token: Redacted.make("credential"),
    timeout: Duration.seconds(10),
    ...options
  }).pipe(Layer.provide(NodeHttpClient.layerUndici), Layer.orDie)

/** Runs the body with a scripted service and a client of it. */
export const asking = <A, E, R>(
  body: (client: FundingClient["Service"], service: Service) => Effect.Effect<A, E, R>,
  options: FundingOptions = {}
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const service = yield* scriptedFunding
      return yield* FundingClient.use((client) => body(client, service)).pipe(
        Effect.provide(portTo({ url: service.url, ...options }))
      )
    })
  )
