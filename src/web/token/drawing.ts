/** The drawing of candles, with `lightweight-charts`. */
import {
  CandlestickSeries,
  type CandlestickData,
  ColorType,
  createChart,
  HistogramSeries,
  type HistogramData,
  TickMarkType,
  type Time,
  type UTCTimestamp
} from "lightweight-charts"
import { shortDecimal, tidyDecimal } from "../parts/numbers.ts"
import { textOf } from "../parts/Amount.tsx"
import type { DrawnBar } from "./bars.ts"

export interface Drawing {
  /** Draws bars, oldest first. Keeps the visible range unless `fresh`, which scrolls to the newest bars. */
  readonly show: (bars: ReadonlyArray<DrawnBar>, fresh: boolean) => void
  readonly remove: () => void
}

/** Height above which candles are drawn, as a share from the top. Volume is below. */
const VOLUME_TOP = 0.82

const colourOf = (element: Element, name: string): string => getComputedStyle(element).getPropertyValue(name).trim()

/** Colours of the page in its current colour scheme. */
const coloursOf = (element: Element) => ({
  card: colourOf(element, "--card"),
  line: colourOf(element, "--line"),
  soft: colourOf(element, "--soft"),
  up: colourOf(element, "--up"),
  down: colourOf(element, "--down")
})

const secondOf = ({ t }: DrawnBar) => Math.floor(t / 1000) as UTCTimestamp

const candleOf = (bar: DrawnBar, soft: string): CandlestickData<UTCTimestamp> => ({
  ...(bar.isEmpty && { color: soft, wickColor: soft }),
  time: secondOf(bar),
  open: bar.o,
  high: bar.h,
  low: bar.l,
  close: bar.c
})

const volumeOf = (bar: DrawnBar, colour: string): HistogramData<UTCTimestamp> => ({
  time: secondOf(bar),
  value: bar.v,
  color: `${colour}66`
})

const dateOf = (time: Time): Date => new Date(Number(time) * 1000)

/** A moment in the time zone of the reader, for the crosshair. */
const momentText = (time: Time): string =>
  dateOf(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })

/**
 * A mark of the time axis in the time zone of the reader. The library places marks of days at midnight UTC, so a mark
 * of a day also says the time, unless it is midnight for the reader too.
 */
const tickText = (time: Time, kind: TickMarkType): string => {
  const date = dateOf(time)
  if (kind === TickMarkType.Year || kind === TickMarkType.Month) {
    return date.toLocaleDateString(undefined, { month: "short", year: "numeric" })
  }
  const clock = date.toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    ...(kind === TickMarkType.TimeWithSeconds && { second: "2-digit" as const })
  })
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  const day = date.toLocaleDateString(undefined, { day: "numeric", month: "short" })
  return kind !== TickMarkType.DayOfMonth ? clock : isMidnight ? day : `${day} ${clock}`
}

/** From this price on a mark of the price axis is cut to thousands or millions. */
const CUT_FROM = 100_000

/** A price or a market value of any size, for the price axis. */
const priceText = (price: number): string => (price < CUT_FROM ? tidyDecimal : shortDecimal)(textOf(price, 5))

/**
 * The library's own style element and logo stay off: the content security policy allows no inline style, and the footer
 * names the library.
 */
const layoutOf = ({ card, soft }: ReturnType<typeof coloursOf>) => ({
  attributionLogo: false,
  background: { type: ColorType.Solid, color: card },
  textColor: soft,
  fontFamily: "ui-sans-serif, system-ui, sans-serif"
})

/** Smallest price step. Small enough that prices of tiny tokens are not rounded away. */
const MIN_MOVE = 1e-12

/** Starts a chart that follows the size of its element and the colour scheme of the page. */
export const draw = (element: HTMLElement): Drawing => {
  const chart = createChart(element, {
    autoSize: true,
    layout: layoutOf(coloursOf(element)),
    localization: { priceFormatter: priceText, timeFormatter: momentText },
    timeScale: { timeVisible: true, secondsVisible: false, rightOffset: 4, tickMarkFormatter: tickText },
    handleScroll: { vertTouchDrag: false }
  })
  const candles = chart.addSeries(CandlestickSeries, {
    priceFormat: { type: "custom", formatter: priceText, minMove: MIN_MOVE }
  })
  const volume = chart.addSeries(HistogramSeries, {
    priceScaleId: "volume",
    lastValueVisible: false,
    priceLineVisible: false
  })
  chart.priceScale("volume").applyOptions({ scaleMargins: { top: VOLUME_TOP, bottom: 0 } })
  candles.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 1 - VOLUME_TOP + 0.04 } })

  let shown: ReadonlyArray<DrawnBar> = []
  const paint = () => {
    const colours = coloursOf(element)
    const { down, line, soft, up } = colours
    chart.applyOptions({
      layout: layoutOf(colours),
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      timeScale: { borderColor: line },
      rightPriceScale: { borderColor: line }
    })
    candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down, borderVisible: false })
    candles.setData(shown.map((bar) => candleOf(bar, soft)))
    volume.setData(shown.map((bar) => volumeOf(bar, bar.c < bar.o ? down : up)))
  }
  const scheme = globalThis.matchMedia("(prefers-color-scheme: dark)")
  scheme.addEventListener("change", paint)
  paint()
  return {
    show: (bars, fresh) => {
      shown = bars
      paint()
      if (fresh) {
        chart.timeScale().resetTimeScale()
      }
    },
    remove: () => {
      scheme.removeEventListener("change", paint)
      chart.remove()
    }
  }
}
