/**
 * AMMs without public source. Their programs price by parameters that only their operators know, so a quote runs the
 * program itself. Account orders, data and addresses of pools: LimeChain/magnus, crates/router/src/adapters and
 * cfg/payloads. Further pools of these programs are not known here: their accounts do not name what a swap needs.
 */
import { Address, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { pack, u64, u8 } from "../layout/pack.ts"
import { type AccountRef, reads, signs, pays, writes } from "../transactions/Call.ts"
import type { Program } from "../interface/Program.ts"
import { TOKEN_PROGRAM } from "../layout/tokenAccount.ts"
import { readU64, writeU64 } from "../layout/bytes.ts"
import { pricedByExecution } from "./pricedByExecution.ts"

const INSTRUCTIONS = Address.make("Sysvar1nstructions1111111111111111111111111")
const CLOCK = Address.make("SysvarC1ock11111111111111111111111111111111")
const USDT = Address.make("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")

/** One pool with the accounts of its swaps. `more` is what this program needs besides, by its own names. */
export interface ClosedPool {
  readonly pool: Address
  readonly mintA: Mint
  readonly mintB: Mint
  readonly vaultA: Address
  readonly vaultB: Address
  readonly more: ReadonlyArray<Address>
}

/** One swap. `a` and `b` are the trader's accounts for the two mints of the pool. */
export interface ClosedSwap {
  readonly aToB: boolean
  readonly amount: bigint
  readonly trader: Address
  readonly a: Address
  readonly b: Address
}

/** A program with its pools and its swap instruction. */
export interface ClosedAmm extends Program {
  readonly pools: ReadonlyArray<ClosedPool>
  readonly swap: (
    pool: ClosedPool,
    swap: ClosedSwap
  ) => { readonly accounts: ReadonlyArray<AccountRef>; readonly data: Uint8Array }
}

const closedAmm = (
  dex: string,
  programId: string,
  pools: ReadonlyArray<ClosedPool>,
  swap: ClosedAmm["swap"]
): ClosedAmm => {
  const own = Address.make(programId)
  const byAddress = new Map(pools.map((pool) => [pool.pool, pool]))
  return {
    dex,
    programId: own,
    isExecuted: true,
    pools,
    swap,
    poolsOf: () => [],
    poolAddressesOf: (mint) => pools.filter((one) => one.mintA === mint || one.mintB === mint).map((one) => one.pool),
    isPool: ({ address, owner }) => owner === own && byAddress.has(address),
    needs: ({ address }) => {
      const known = byAddress.get(address)
      return known === undefined ? [] : [known.mintA, known.mintB, known.vaultA, known.vaultB, ...known.more]
    },
    decode: ({ address }) => {
      const known = byAddress.get(address)
      return known === undefined
        ? { reason: "unsupported", detail: "the accounts of its swaps are not known" }
        : pricedByExecution([known.mintA, known.mintB])
    }
  }
}

const pool = (
  address: string,
  [mintA, mintB]: readonly [Mint, Mint],
  [vaultA, vaultB]: readonly [string, string],
  ...more: ReadonlyArray<string>
): ClosedPool => ({
  pool: Address.make(address),
  mintA,
  mintB,
  vaultA: Address.make(vaultA),
  vaultB: Address.make(vaultB),
  more: more.map((one) => Address.make(one))
})

/** Each eight bytes of HumidiFi's data are combined with this key and with a counter in each of their four words. */
const HUMIDIFI_KEY = 0xc3ebbae2ff2fff3an
const HUMIDIFI_STEP = 0x0001_0001_0001_0001n

/** Hides instruction data as HumidiFi expects it. Applied twice, it gives the data back. */
export const hiddenData = (data: Uint8Array): Uint8Array => {
  const padded = pack(data, new Uint8Array((8 - (data.length % 8)) % 8))
  for (let at = 0, mask = 0n; at < padded.length; at += 8, mask = BigInt.asUintN(64, mask + HUMIDIFI_STEP)) {
    writeU64(padded, at, readU64(padded, at) ^ HUMIDIFI_KEY ^ mask)
  }
  return padded.subarray(0, data.length)
}

const HUMIDIFI_SWAP = 4
/** Any number names a swap of HumidiFi. */
const SWAP_ID = 1500n

const humidifi = closedAmm(
  "humidifi",
  "9H6tua7jkLhdm3w8BvgpTn5LZNU7g4ZynDmCiNN3q6Rp",
  [
    pool(
      "FksffEqnBRixYGR791Qw2MgdU7zNCpHVFYBL4Fa4qVuH",
      [SOL, USDC],
      ["C3FzbX9n1YD2dow2dCmEv5uNyyf22Gb3TLAEqGBhw5fY", "3RWFAQBRkNGq7CMGcTLK3kXDgFTe9jgMeFYqk8nHwcWh"]
    ),
    pool(
      "DB3sUCP2H4icbeKmK6yb6nUxU5ogbcRHtGuq7W2RoRwW",
      [SOL, USDC],
      ["8BrVfsvzb1DZqCactbYWoKSv24AfsLBuXJqzpzYCwznF", "HsQcHFFNUVTp3MWrXYbuZchBNd4Pwk8636bKzLvpfYNR"]
    ),
    pool(
      "6n9VhCwQ7EwK6NqFDjnHPzEk6wZdRBTfh43RFgHQWHuQ",
      [SOL, USDC],
      ["C3FzbX9n1YD2dow2dCmEv5uNyyf22Gb3TLAEqGBhw5fY", "3RWFAQBRkNGq7CMGcTLK3kXDgFTe9jgMeFYqk8nHwcWh"]
    ),
    pool(
      "AvGeFw71N5sNfV97mZ1uNrHg4yfufRicCJUrS9j2ehTX",
      [SOL, USDC],
      ["ECEPWwZJ1U1Vjsj1X5sUbZYETKMSCjYHuoTMVitCn64t", "FBWtVVvzsRuAAzVX8ua1hden9KmgPrC2rFijuwEn1ngJ"]
    )
  ],
  ({ pool: address, vaultA, vaultB }, { a, aToB, amount, b, trader }) => ({
    accounts: [
      signs(trader),
      writes(address),
      writes(vaultA),
      writes(vaultB),
      writes(a),
      writes(b),
      reads(CLOCK),
      reads(TOKEN_PROGRAM),
      reads(INSTRUCTIONS)
    ],
    data: hiddenData(pack(u64(SWAP_ID), u64(amount), u8(aToB ? 0 : 1), new Uint8Array(7), u8(HUMIDIFI_SWAP)))
  })
)

const solfiV2 = closedAmm(
  "solfi-v2",
  "SV2EYYJyRz2YhfXwXnhNAevDEui5Q6yrfyo13WtupPF",
  [
    pool(
      "65ZHSArs5XxPseKQbB1B4r16vDxMWnCxHMzogDAqiDUc",
      [SOL, USDC],
      ["CRo8DBwrmd97DJfAnvCv96tZPL5Mktf2NZy2ZnhDer1A", "GhFfLFSprPpfoRaWakPMmJTMJBHuz6C694jYwxy2dAic"],
      "2ny7eGyZCoeEVTkNLf5HcnJFBKkyA4p4gcrtb3b8y8ou",
      "FmxXDSR9WvpJTCh738D1LEDuhMoA8geCtZgHb3isy7Dp"
    )
  ],
  ({ mintA, mintB, more, pool: market, vaultA, vaultB }, { a, aToB, amount, b, trader }) => ({
    accounts: [
      pays(trader),
      writes(market),
      ...more.map(reads),
      writes(vaultA),
      writes(vaultB),
      writes(a),
      writes(b),
      reads(mintA),
      reads(mintB),
      reads(TOKEN_PROGRAM),
      reads(TOKEN_PROGRAM),
      reads(INSTRUCTIONS)
    ],
    data: pack(u8(7), u64(amount), u64(1n), u8(aToB ? 0 : 1))
  })
)

const tessera = closedAmm(
  "tessera",
  "TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH",
  [
    pool(
      "FLckHLGMJy5gEoXWwcE68Nprde1D4araK4TGLw4pQq2n",
      [SOL, USDC],
      ["5pVN5XZB8cYBjNLFrsBCPWkCQBan5K5Mq2dWGzwPgGJV", "9t4P5wMwfFkyn92Z7hf463qYKEZf8ERVZsGBEPNp8uJx"],
      "8ekCy2jHHUbW2yeNGFWYJT9Hm9FW7SvZcZK66dSZCDiF"
    )
  ],
  ({ mintA, mintB, more, pool: state, vaultA, vaultB }, { a, aToB, amount, b, trader }) => ({
    accounts: [
      ...more.map(reads),
      writes(state),
      pays(trader),
      writes(vaultA),
      writes(vaultB),
      writes(a),
      writes(b),
      reads(mintA),
      reads(mintB),
      reads(TOKEN_PROGRAM),
      reads(TOKEN_PROGRAM),
      reads(INSTRUCTIONS)
    ],
    data: pack(u8(16), u8(aToB ? 1 : 0), u64(amount), u64(1n))
  })
)

const zerofi = closedAmm(
  "zerofi",
  "ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY",
  [
    pool(
      "2h9hhu3gxY9kCdXEwdTHV8yPAMYVoHgKopRyG1HbDwfi",
      [SOL, USDC],
      ["ERP5RTV6cWmoGrv7r9W2V5pbgDFSepc4j97qNnx1Jris", "7wYJVD8iXmMQjND1fwi1hPr68QwruVVtirbotyJZXaVH"],
      "7RHJ2WfexqUxy7SXfbNZRZDgZi3D9jtMAQp9VhfzpU8T",
      "Ef7zPqj4NuZHwaTczUTY9oRbxXrfZseUcKcqPaidCZ5W"
    )
  ],
  ({ more, pool: pair, vaultA, vaultB }, { a, aToB, amount, b, trader }) => {
    const [infoA = pair, infoB = pair] = more
    const sideA = [writes(infoA), writes(vaultA)]
    const sideB = [writes(infoB), writes(vaultB)]
    return {
      accounts: [
        writes(pair),
        ...(aToB ? [...sideA, ...sideB] : [...sideB, ...sideA]),
        writes(aToB ? a : b),
        writes(aToB ? b : a),
        signs(trader),
        reads(TOKEN_PROGRAM),
        reads(INSTRUCTIONS)
      ],
      data: pack(u8(6), u64(amount), u64(0n))
    }
  }
)

/** Bump of the blacklist's address. The program derives the address from it again. */
const GOONFI_BUMP = 255

const goonfi = closedAmm(
  "goonfi",
  "goonERTdGsjnkZqWuVjs73BZ3Pb9qoCUdBUL17BnS5j",
  [
    pool(
      "4uWuh9fC7rrZKrN8ZdJf69MN1e2S7FPpMqcsyY1aof6K",
      [SOL, USDC],
      ["pKiUC9hDXv52xqU1p3BKypV9AQjAMgfZUGRnoBsdkKm", "Gsy5Zr7Vxn5KckAbduPHHGR1qzPJ4w3GSYmcinWAkhrC"],
      "7XqYD6DEGmDXooB1E8NNRWV9pWAmm1z6WYpsfjnABTUz"
    )
  ],
  ({ more, pool: market, vaultA, vaultB }, { a, aToB, amount, b, trader }) => ({
    accounts: [
      pays(trader),
      writes(market),
      writes(a),
      writes(b),
      writes(vaultA),
      writes(vaultB),
      ...more.map(reads),
      reads(INSTRUCTIONS),
      reads(TOKEN_PROGRAM)
    ],
    data: pack(u8(2), u8(aToB ? 0 : 1), u8(GOONFI_BUMP), u64(amount), u64(1n))
  })
)

/** Discriminator of Obric's `swap2`. */
const SWAP_2 = Uint8Array.of(65, 75, 63, 76, 235, 91, 91, 136)

const obric = closedAmm(
  "obric",
  "obriQD1zbpyLz95G5n7nJe6a4DPjpFwa5XYPoNm113y",
  [
    pool(
      "BWBHrYqfcjAh5dSiRwzPnY4656cApXVXmkeDmAfwBKQG",
      [USDC, USDT],
      ["C3tPQ8TRcHybnPpR8KMASUVD3PukQRRHEsLwxorJMhgm", "AAamGhyPfpQJWfZHTq944NM1cFvoVLDrQxt7HGjeRQUS"],
      "GZsNmWKbqhMYtdSkkvMdEyQF9k5mLmP7tTKYWZjcHVPE",
      "6YawcNeZ74tRyCv4UfGydYMr7eho7vbUR6ScVffxKAb3",
      "J4HJYz4p7TRP96WVFky3vh7XryxoFehHjoRySUTeSeXw"
    )
  ],
  ({ more, pool: pair, vaultA, vaultB }, { a, aToB, amount, b, trader }) => {
    const [second = pair, third = pair, feed = pair] = more
    return {
      accounts: [
        writes(pair),
        reads(second),
        reads(third),
        writes(vaultA),
        writes(vaultB),
        writes(a),
        writes(b),
        writes(feed),
        reads(feed),
        reads(feed),
        signs(trader),
        reads(TOKEN_PROGRAM)
      ],
      data: pack(SWAP_2, u8(aToB ? 1 : 0), u64(amount), u64(1n))
    }
  }
)

/** HumidiFi, SolFi v2, Tessera, ZeroFi, GoonFi and Obric. */
export const closedAmms: ReadonlyArray<ClosedAmm> = [humidifi, solfiV2, tessera, zerofi, goonfi, obric]
