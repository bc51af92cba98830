/**
 * A client for quotes alone, a small part of the size of the whole client: it checks no answers against schemas. Calls,
 * amounts, attempts and errors are those of `createClient`.
 */
import type { SpotQuote } from "../api/schemas/Quote.ts"
import type { CallOptions, Client, ClientOptions } from "./createClient.ts"
import { plainReads } from "./plainReads.ts"

type Wire = typeof SpotQuote.Encoded
type Amount = "inAmount" | "outAmount" | "minOutAmount"
type WireHop = Wire["route"][number]

/** A quote with its amounts as `bigint`. */
export type Quote = Omit<Wire, Amount | "maxInAmount" | "route"> &
  Readonly<Record<Amount, bigint>> & {
    readonly maxInAmount?: bigint
    readonly route: ReadonlyArray<
      Omit<WireHop, "amountIn" | "amountOut"> & { readonly amountIn: bigint; readonly amountOut: bigint }
    >
  }

/** What `spot.quote` is asked. */
export type QuoteQuery = Parameters<Client["spot"]["quote"]>[0]["query"]

export interface QuoteClient {
  /** Prices one trade. Throws a `FathomError`. */
  readonly quote: (query: QuoteQuery, options?: CallOptions) => Promise<Quote>
}

const decoded = ({ maxInAmount, route, ...rest }: Wire): Quote => ({
  ...rest,
  inAmount: BigInt(rest.inAmount),
  outAmount: BigInt(rest.outAmount),
  minOutAmount: BigInt(rest.minOutAmount),
  ...(maxInAmount !== undefined && { maxInAmount: BigInt(maxInAmount) }),
  route: route.map((hop) => ({ ...hop, amountIn: BigInt(hop.amountIn), amountOut: BigInt(hop.amountOut) }))
})

/** Makes a client for quotes. Nothing is sent before the first call. */
export const createQuoteClient = (options: ClientOptions): QuoteClient => {
  const read = plainReads(options)
  return {
    quote: (query, { signal } = {}) =>
      read({
        path: "/api/v1/spot/quote",
        query,
        decode: (body) => decoded(body as Wire),
        what: "quote",
        ...(signal !== undefined && { signal })
      })
  }
}
