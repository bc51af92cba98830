/** Firings of alerts, for the bell of every open page. A firing that happens while a page is open is told once. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { Answer } from "./contract.ts"
import { useTracker } from "./useLive.ts"
import { useRead } from "./useRead.ts"

export type Firing = Answer<"GET /api/v1/alerts/events">["data"][number]

/** Milliseconds between two reads, without and with the tracker's socket, which reports firings. */
const READ_MS = 15_000
const LIVE_MS = 60_000
const MOST = 20

const SEEN_KEY = "fathom-alerts-seen"
const QUIET_KEY = "fathom-alerts-quiet"
const TOLD_KEY = "fathom-alerts-told"
/** Firings that are remembered as told, over all open pages. */
const MOST_TOLD = 100
const LOCK = "fathom-alert-told"
/** Milliseconds by which a page that the user has not touched, and which would stay silent, lets other pages go first. */
const UNTOUCHED_MS = 400

const stored = (key: string): string | null => {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

const store = (key: string, value: string): void => {
  try {
    localStorage.setItem(key, value)
  } catch {
    // A browser that stores nothing forgets what was seen.
  }
}

/** Text kept in the browser's storage, current in every open page. */
const useStored = (key: string): readonly [string | null, (value: string) => void] => {
  const [value, setValue] = useState(() => stored(key))
  useEffect(() => {
    const changed = (event: StorageEvent) => event.key === key && setValue(event.newValue)
    globalThis.addEventListener("storage", changed)
    return () => globalThis.removeEventListener("storage", changed)
  }, [key])
  return [
    value,
    (next) => {
      store(key, next)
      setValue(next)
    }
  ]
}

const SECONDS = 0.35
const HERTZ = [880, 1320]

/** Two short tones. A browser stays silent until the user has touched the page. */
const ring = async (): Promise<void> => {
  const audio = new AudioContext()
  const loudness = audio.createGain()
  loudness.gain.setValueAtTime(0.12, audio.currentTime)
  loudness.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + SECONDS)
  loudness.connect(audio.destination)
  HERTZ.forEach((hertz, place) => {
    const tone = new OscillatorNode(audio, { frequency: hertz })
    tone.connect(loudness)
    tone.start(audio.currentTime + (place * SECONDS) / 2)
    tone.stop(audio.currentTime + SECONDS)
  })
  await new Promise((resolve) => setTimeout(resolve, 2 * 1000 * SECONDS))
  await audio.close()
}

/** Keeps the firings that no page has told yet, and remembers that they are told now. */
const takeUntold = (fresh: ReadonlyArray<Firing>): ReadonlyArray<Firing> => {
  const told = (stored(TOLD_KEY) ?? "").split(" ")
  const untold = fresh.filter(({ eventId }) => !told.includes(eventId))
  store(TOLD_KEY, [...untold.map(({ eventId }) => eventId), ...told].slice(0, MOST_TOLD).join(" "))
  return untold
}

/**
 * Tells firings in one of the open pages, however late the others hear of them. Pages without locks, over plain HTTP,
 * may tell a firing twice when they hear of it at the same moment.
 */
const tellOnce = async (fresh: ReadonlyArray<Firing>, tell: (untold: ReadonlyArray<Firing>) => Promise<void>) => {
  const run = async () => {
    const untold = takeUntold(fresh)
    if (untold.length > 0) {
      await tell(untold)
    }
  }
  const isTouched = "userActivation" in navigator ? navigator.userActivation.hasBeenActive : true
  await new Promise((resolve) => setTimeout(resolve, isTouched ? 0 : UNTOUCHED_MS))
  await ("locks" in navigator ? navigator.locks.request(LOCK, run) : run())
}

/** Firings newer than those known before; none before the first answer, so that old ones are not told again. */
export const newFirings = (known: ReadonlySet<string> | null, firings: ReadonlyArray<Firing>): ReadonlyArray<Firing> =>
  known === null ? [] : firings.filter(({ eventId }) => !known.has(eventId))

/**
 * The newest firings, how many of them are unseen, and the newest one of this visit. `words` describes a firing in a
 * notification of the browser.
 */
export const useFirings = (words: (firing: Firing) => string) => {
  const [isLive, setLive] = useState(false)
  const [newest, setNewest] = useState<Firing | null>(null)
  const [seen, setSeen] = useStored(SEEN_KEY)
  const [quiet, setQuiet] = useStored(QUIET_KEY)
  const everyMs = () => (isLive ? LIVE_MS : READ_MS)
  // A notification is worth most while the user looks at something else.
  const read = useRead("GET /api/v1/alerts/events", { query: { limit: MOST } }, everyMs, true)
  useTracker(null, (event) => {
    if (event.type === "state") {
      setLive(event.state === "live")
    } else if (event.type === "alert_fired") {
      read.again()
    }
  })
  const firings = read.answer?.data ?? []
  const known = useRef<ReadonlySet<string> | null>(null)
  useEffect(() => {
    if (read.answer === null) {
      return
    }
    const fresh = newFirings(known.current, firings)
    known.current = new Set(firings.map(({ eventId }) => eventId))
    const [first] = fresh
    if (first === undefined) {
      return
    }
    setNewest(first)
    void tellOnce(fresh, async (untold) => {
      if ("Notification" in globalThis && Notification.permission === "granted") {
        untold.forEach((firing) => new Notification(words(firing), { tag: firing.eventId }))
      }
      if (quiet !== "yes") {
        await ring()
      }
    })
  }, [read.answer])
  return {
    read,
    newest,
    hideNewest: () => setNewest(null),
    unseen: firings.filter(({ firedAtMs }) => firedAtMs > Number(seen ?? 0)).length,
    markSeen: () => setSeen(String(firings[0]?.firedAtMs ?? 0)),
    isQuiet: quiet === "yes",
    setQuiet: (isQuiet: boolean) => setQuiet(isQuiet ? "yes" : "no")
  }
}
