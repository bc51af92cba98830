/** Live bars for any number of charts over one market socket. */
import type { ChartBar, ChartResolution } from "../api/schemas/Chart.ts"
import type { Mint } from "../domain/Address.ts"
import type { Client } from "./createClient.ts"
import type { MarketEvent } from "./MarketMemory.ts"
import type { SocketOptions } from "./sockets.ts"
import { watchMarket } from "./watchMarket.ts"

/** A bar as the charting library has it: `time` in milliseconds, prices and volume in USD. */
export interface DatafeedBar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** A chart that wants live bars. */
export interface BarListener {
  readonly mint: Mint
  readonly resolution: ChartResolution
  readonly onTick: (bar: DatafeedBar) => void
  /** Called when bars are missing: the chart has to ask for them again. */
  readonly onReset: () => void
}

interface Chart extends BarListener {
  /** Start of the newest bar that the chart has. Older bars would be refused by the library. */
  shownMs: number
}

const nameOf = (mint: string, resolution: string): string => `${mint}-${resolution}`

const datafeedBar = ({ c, h, l, o, t, v }: ChartBar): DatafeedBar => ({
  time: t,
  open: o,
  high: h,
  low: l,
  close: c,
  volume: v
})

/** The charts and the socket that serves them. The socket is opened anew when the set of subscriptions changes. */
export class LiveBars {
  readonly #client: Pick<Client, "marketRealtime">
  readonly #options: SocketOptions
  readonly #onError: (failure: unknown) => void
  readonly #charts = new Map<string, Chart>()
  /** Start of the newest bar that was read for a chart, by token and resolution. */
  readonly #read = new Map<string, number>()
  #socket = new AbortController()
  #subscribed = ""
  #isChanging = false

  constructor(client: Pick<Client, "marketRealtime">, options: SocketOptions, onError: (failure: unknown) => void) {
    this.#client = client
    this.#options = options
    this.#onError = onError
    options.signal?.addEventListener("abort", () => this.close(), { once: true })
  }

  /** Notes the newest bar that a chart was given by a call, so that live bars go on from there. */
  shown(mint: string, resolution: string, timeMs: number): void {
    const name = nameOf(mint, resolution)
    this.#read.set(name, Math.max(timeMs, this.#read.get(name) ?? 0))
  }

  add(id: string, listener: BarListener): void {
    this.#charts.set(id, { ...listener, shownMs: this.#read.get(nameOf(listener.mint, listener.resolution)) ?? 0 })
    this.#change()
  }

  remove(id: string): void {
    this.#charts.delete(id)
    this.#change()
  }

  close(): void {
    this.#charts.clear()
    this.#subscribed = ""
    this.#socket.abort()
  }

  /** Subscribes after the caller has made all its changes: the library adds the new bars before it removes the old. */
  #change(): void {
    if (this.#isChanging) {
      return
    }
    this.#isChanging = true
    queueMicrotask(() => {
      this.#isChanging = false
      const wanted = new Map(
        Array.from(this.#charts.values(), ({ mint, resolution }) => [
          nameOf(mint, resolution),
          { channel: "candles" as const, mint, resolution, id: nameOf(mint, resolution) }
        ])
      )
      const names = Array.from(wanted.keys()).toSorted().join()
      if (names !== this.#subscribed) {
        this.#subscribed = names
        this.#socket.abort()
        this.#socket = new AbortController()
        if (wanted.size > 0) {
          void this.#follow(Array.from(wanted.values()), this.#socket.signal)
        }
      }
    })
  }

  async #follow(subscriptions: Parameters<typeof watchMarket>[1], signal: AbortSignal): Promise<void> {
    try {
      for await (const event of watchMarket(this.#client, subscriptions, { ...this.#options, signal })) {
        this.#take(event)
      }
    } catch (failure) {
      if (!signal.aborted) {
        this.#subscribed = ""
        this.#onError(failure)
      }
    }
  }

  #take(event: MarketEvent): void {
    const charts = Array.from(this.#charts.values()).filter(
      ({ mint, resolution }) => nameOf(mint, resolution) === event.id
    )
    switch (event.type) {
      case "gap":
        charts.forEach(({ onReset }) => onReset())
        break
      case "candle":
      case "candle_closed":
        charts.forEach((chart) => this.#tick(chart, [event.data]))
        break
      case "snapshot":
        if (event.channel === "candles") {
          const { bars } = event.data
          // A chart that has no bars yet gets the newest alone: the others come by its own call.
          charts.forEach((chart) => this.#tick(chart, chart.shownMs === 0 ? bars.slice(-1) : bars))
        }
        break
      default:
    }
  }

  #tick(chart: Chart, bars: ReadonlyArray<ChartBar>): void {
    for (const bar of bars) {
      if (bar.t >= chart.shownMs) {
        chart.shownMs = bar.t
        chart.onTick(datafeedBar(bar))
      }
    }
  }
}
