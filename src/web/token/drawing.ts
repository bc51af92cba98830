/** The drawing of candles, with `lightweight-charts`. */
import {
  CandlestickSeries,
  type CandlestickData,
  ColorType,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type HistogramData,
  LineStyle,
  TickMarkType,
  type Time,
  type UTCTimestamp
} from "lightweight-charts"
import { shortDecimal, tidyDecimal } from "../parts/numbers.ts"
import { textOf } from "../parts/Amount.tsx"
import type { DrawnBar } from "./bars.ts"

/** A horizontal line of an alert that can be dragged. */
export interface Level {
  readonly id: string
  readonly value: number
  readonly title: string
}

/** A trade of the reader, drawn at its bar. */
export interface Mark {
  readonly atMs: number
  readonly side: "buy" | "sell"
  readonly text: string
}

export interface Drawing {
  /** Draws the levels. A level that was dragged is passed to `onMove` with its new value. */
  readonly levels: (levels: ReadonlyArray<Level>, onMove: (id: string, value: number) => void) => void
  /** Draws trades of the reader, oldest first. */
  readonly marks: (marks: ReadonlyArray<Mark>) => void
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

/** How close to a line the pointer has to be to take it, in pixels. */
const REACH = 8

const ignored = (): void => {}

/** Lines of alerts on a series. One that the pointer takes follows it, and is reported where it is left. */
const draggable = (element: HTMLElement, chart: IChartApi, series: ISeriesApi<"Candlestick">) => {
  let lines: ReadonlyArray<{ readonly level: Level; readonly line: IPriceLine }> = []
  let moved: (id: string, value: number) => void = ignored
  let held: { readonly level: Level; readonly line: IPriceLine } | null = null
  const heightOf = ({ clientY }: PointerEvent) => clientY - element.getBoundingClientRect().top
  const under = (event: PointerEvent) =>
    lines.find(({ line }) => {
      const y = series.priceToCoordinate(line.options().price)
      return y !== null && Math.abs(y - heightOf(event)) <= REACH
    }) ?? null
  const down = (event: PointerEvent) => {
    held = under(event)
    if (held !== null) {
      event.stopPropagation()
      element.setPointerCapture(event.pointerId)
      chart.applyOptions({ handleScroll: false, handleScale: false })
    }
  }
  const move = (event: PointerEvent) => {
    element.classList.toggle("grab", held !== null || under(event) !== null)
    const value = held === null ? null : series.coordinateToPrice(heightOf(event))
    if (value !== null && value > 0) {
      held?.line.applyOptions({ price: value })
    }
  }
  const up = () => {
    if (held !== null) {
      const { level, line } = held
      held = null
      chart.applyOptions({ handleScroll: { vertTouchDrag: false }, handleScale: true })
      if (line.options().price !== level.value) {
        moved(level.id, line.options().price)
      }
    }
  }
  element.addEventListener("pointerdown", down, { capture: true })
  element.addEventListener("pointermove", move)
  element.addEventListener("pointerup", up)
  element.addEventListener("pointercancel", up)
  return {
    show: (levels: ReadonlyArray<Level>, onMove: typeof moved, color: string) => {
      moved = onMove
      if (held === null) {
        lines.forEach(({ line }) => series.removePriceLine(line))
        lines = levels.map((level) => ({
          level,
          line: series.createPriceLine({
            price: level.value,
            color,
            lineWidth: 1,
            lineStyle: LineStyle.Dashed,
            axisLabelVisible: true,
            title: level.title
          })
        }))
      }
    },
    remove: () => {
      element.removeEventListener("pointerdown", down, { capture: true })
      element.removeEventListener("pointermove", move)
      element.removeEventListener("pointerup", up)
      element.removeEventListener("pointercancel", up)
    }
  }
}

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

  const alerts = draggable(element, chart, candles)
  const markers = createSeriesMarkers(candles, [])
  let shown: ReadonlyArray<DrawnBar> = []
  let marked: ReadonlyArray<Mark> = []
  /** Each trade at the bar that holds it. Trades before the first bar are not drawn. */
  const paintMarks = () => {
    const { down, up } = coloursOf(element)
    markers.setMarkers(
      marked.flatMap(({ atMs, side, text }) => {
        const bar = shown.findLast(({ t }) => t <= atMs)
        return bar === undefined
          ? []
          : [
              {
                time: secondOf(bar),
                position: side === "buy" ? ("belowBar" as const) : ("aboveBar" as const),
                shape: side === "buy" ? ("arrowUp" as const) : ("arrowDown" as const),
                color: side === "buy" ? up : down,
                text
              }
            ]
      })
    )
  }
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
    levels: (levels, onMove) => alerts.show(levels, onMove, colourOf(element, "--warn")),
    marks: (marks) => {
      marked = marks
      paintMarks()
    },
    show: (bars, fresh) => {
      shown = bars
      paint()
      paintMarks()
      if (fresh) {
        chart.timeScale().resetTimeScale()
      }
    },
    remove: () => {
      scheme.removeEventListener("change", paint)
      alerts.remove()
      chart.remove()
    }
  }
}
