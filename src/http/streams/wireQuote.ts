/** Encodes quotes and frames as JSON text. Written by hand, because every tick of every stream is encoded here. */
import { HttpServerResponse } from "effect/http"
import type { SpotQuote } from "../../api/schemas/Quote.ts"
import type { RouteSimulation } from "../../api/schemas/RouteSimulation.ts"
import type { Frame } from "../../api/schemas/QuoteStream.ts"

const onWire = (quote: SpotQuote) => ({
  ...quote,
  inAmount: quote.inAmount.toString(),
  outAmount: quote.outAmount.toString(),
  minOutAmount: quote.minOutAmount.toString(),
  ...(quote.maxInAmount !== undefined && { maxInAmount: quote.maxInAmount.toString() }),
  route: quote.route.map(
    ({
      amountIn,
      amountOut,
      computeUnits,
      dex,
      inputMint,
      outputMint,
      percent,
      pool,
      priceImpactPct,
      provenAtSlot
    }) => ({
      dex,
      inputMint,
      outputMint,
      pool,
      percent,
      amountIn: amountIn.toString(),
      amountOut: amountOut.toString(),
      priceImpactPct,
      provenAtSlot,
      ...(computeUnits !== undefined && { computeUnits })
    })
  )
})

/** The JSON body of a quote. */
export const quoteText = (quote: SpotQuote): string => JSON.stringify(onWire(quote))

/** The 200 response of a quote. */
export const quoteResponse = (quote: SpotQuote): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(quoteText(quote), { contentType: "application/json" })

/** The 200 response of a route that was also executed. */
export const simulatedResponse = (
  quote: SpotQuote,
  { hops, outAmount, ...simulation }: RouteSimulation
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    JSON.stringify({
      ...onWire(quote),
      simulation: {
        ...simulation,
        hops: hops.map(({ amountIn, amountOut, ...hop }) => ({
          ...hop,
          amountIn: amountIn.toString(),
          amountOut: amountOut.toString()
        })),
        outAmount: outAmount?.toString() ?? null
      }
    }),
    { contentType: "application/json" }
  )

/** Texts of quotes that several streams send. */
const texts = new WeakMap<SpotQuote, string>()

const sharedText = (quote: SpotQuote): string => {
  const known = texts.get(quote)
  if (known !== undefined) {
    return known
  }
  const text = quoteText(quote)
  texts.set(quote, text)
  return text
}

const dataText = (frame: Frame): string => {
  switch (frame.event) {
    case "open":
      return JSON.stringify({ ...frame.data, amount: frame.data.amount.toString() })
    case "quote": {
      const { atMs, budgetRemaining, changed, quote, seq, streamId, tick } = frame.data
      const rest = `"tick":${tick},"changed":${JSON.stringify(changed)},"budgetRemaining":${budgetRemaining}`
      return `{"streamId":"${streamId}","seq":${seq},"atMs":${atMs},${rest},"quote":${sharedText(quote)}}`
    }
    default:
      return JSON.stringify(frame.data)
  }
}

/** A frame as server-sent event. */
export const frameText = (frame: Frame): string =>
  `id: ${frame.data.streamId}:${frame.data.seq}\nevent: ${frame.event}\ndata: ${dataText(frame)}\n\n`
