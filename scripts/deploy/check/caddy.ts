/** The Caddyfiles of the delivery in front of a service: a quote, an event stream, and a socket over TLS. */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { get } from "node:https"
import { connect, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WebSocket } from "ws"
import { MARKET_REALTIME_PATH } from "../../../src/api/MarketRealtime.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { freePort, type Service, sleep, startService } from "../../bench/start/service.ts"

const FILES = ["Caddyfile", "Caddyfile.roles"] as const
const HOST = "localhost"
/** The directive is of Caddy 2.7 and later; the images of the delivery have it, Debian 12 does not. */
const LATER = /^\s*stream_close_delay .*\n/gmu
const PATIENCE_MS = 300_000
const EVENTS = 3
const QUOTE = `inputMint=${SOL}&outputMint=${USDC}&amount=1000000000`

/** The version of the Caddy on this machine; null without one. */
export const caddyVersion = (): string | null => {
  const { status, stdout } = spawnSync("caddy", ["version"], { encoding: "utf8" })
  return status === 0 ? stdout.trim().replace(/^v/u, "").split(" ")[0] || null : null
}

const lacksDelay = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < 2 || (major === 2 && minor < 7)
}

/** A way to the service that counts the requests of each path. */
const countingProxy = async (port: number) => {
  const paths: Array<string> = []
  const server: Server = createServer((inward) => {
    const outward = connect(port, "127.0.0.1")
    inward.on("data", (chunk: Buffer) => {
      const path = /^(?:GET|POST) ([^ ?]+)/u.exec(chunk.toString("latin1"))?.[1]
      paths.push(...(path === undefined ? [] : [path]))
    })
    inward.pipe(outward).pipe(inward)
    inward.on("error", () => outward.destroy())
    outward.on("error", () => inward.destroy())
  })
  const own = await freePort()
  await new Promise<void>((resolve) => server.listen(own, "127.0.0.1", resolve))
  return { port: own, paths, close: () => server.close() }
}
type CountingProxy = Awaited<ReturnType<typeof countingProxy>>

interface Place {
  readonly port: number
  readonly ca: string
  readonly key: string
}

const headersOf = ({ key }: Place) => ({ authorization: `Bearer ${key}` })

const ask = ({ ca, port, ...place }: Place, path: string) =>
  new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    get({ host: HOST, port, path, ca, agent: false, headers: headersOf({ ca, port, ...place }) }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk) => (text += chunk))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    }).on("error", reject)
  })

/** Events of a stream of four minutes that arrive while it goes on; a proxy that holds them back gives none. */
const eventsOf = (place: Place) =>
  new Promise<number>((resolve, reject) => {
    const path = `/api/v1/spot/quote/stream?${QUOTE}&intervalMs=250&durationSeconds=240`
    const { ca, port } = place
    const sent = get({ host: HOST, port, path, ca, agent: false, headers: headersOf(place) }, (response) => {
      let events = 0
      const end = () => {
        clearTimeout(late)
        sent.destroy()
        resolve(response.statusCode === 200 ? events : 0)
      }
      const late = setTimeout(end, PATIENCE_MS)
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        events += chunk.split("event: ").length - 1
        if (events >= EVENTS) {
          end()
        }
      })
      response.on("close", end)
    }).on("error", reject)
  })

/** True when a socket that is opened with a ticket has its first snapshot. */
const isSocketOpen = async (place: Place): Promise<boolean> => {
  const { text } = await ask(place, `${MARKET_REALTIME_PATH}/session`)
  const ticket = /ticket=(?<ticket>[^"&]+)/u.exec(text)?.groups?.["ticket"]
  if (ticket === undefined) {
    return false
  }
  const socket = new WebSocket(`wss://${HOST}:${place.port}${MARKET_REALTIME_PATH}?ticket=${ticket}`, { ca: place.ca })
  return new Promise<boolean>((resolve) => {
    const end = (isOpen: boolean) => {
      clearTimeout(late)
      socket.terminate()
      resolve(isOpen)
    }
    const late = setTimeout(end, PATIENCE_MS, false)
    socket.on("open", () => socket.send(JSON.stringify({ op: "subscribe", id: "price", channel: "price", mint: SOL })))
    socket.on("message", (data) => {
      if (String(data).startsWith('{"type":"snapshot"')) {
        end(true)
      }
    })
    socket.on("error", () => end(false))
    socket.on("close", () => end(false))
  })
}

/** The file with addresses of this machine, certificates of its own, and without what this Caddy does not know. */
const localFile = (text: string, ways: Readonly<Record<"api" | "live" | "fathom", number>>, version: string): string =>
  `{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n${text
    .replace("fathom:3000", `127.0.0.1:${ways.fathom}`)
    .replace("live:3000", `127.0.0.1:${ways.live}`)
    .replace("dynamic a api 3000", `dynamic a 127.0.0.1 ${ways.api}`)
    .replaceAll(LATER, lacksDelay(version) ? "" : "$&")}`

/** True for paths of streams and sockets. */
const isLive = (path: string): boolean => /\/(?:stream|realtime)(?:\/|$)/u.test(path)

const checkFile = async (folder: string, name: (typeof FILES)[number], service: Service, version: string) => {
  const text = readFileSync(new URL(`../${name}`, import.meta.url), "utf8")
  const port = await freePort()
  const ways: ReadonlyArray<CountingProxy> = [await countingProxy(service.port), await countingProxy(service.port)]
  const [api, live] = ways.map((way) => way.port)
  const file = join(folder, name)
  writeFileSync(file, localFile(text, { fathom: service.port, api: api ?? 0, live: live ?? 0 }, version))
  const env = { ...process.env, FATHOM_HOST: `${HOST}:${port}`, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const flags = ["--adapter", "caddyfile", "--config", file]
  execFileSync("caddy", ["validate", ...flags], { env, stdio: ["ignore", "ignore", 2] })
  const child = spawn("caddy", ["run", ...flags], { env, stdio: ["ignore", "ignore", "ignore"] })
  const gone = new Promise<void>((resume) => child.once("exit", () => resume()))
  try {
    const authority = join(folder, "caddy/pki/authorities/local/root.crt")
    const placeOf = (): Place => ({ port, key: service.key, ca: readFileSync(authority, "utf8") })
    const limit = performance.now() + PATIENCE_MS
    let status = 0
    while (status !== 200 && child.exitCode === null && performance.now() < limit) {
      await sleep(100)
      status = await (async () => ask(placeOf(), "/livez"))().then(
        (answer) => answer.status,
        () => 0
      )
    }
    const place = placeOf()
    const quote = (await ask(place, `/api/v1/spot/quote?${QUOTE}`)).status
    const events = await eventsOf(place)
    const socket = await isSocketOpen(place)
    // In front of roles, streams and sockets take the way to `live`, and everything else that to `api`.
    const [toApi = [], toLive = []] = ways.map(({ paths }) => paths)
    const isRouted =
      name === "Caddyfile" ||
      (toApi.length > 0 && toLive.length >= 3 && toLive.every(isLive) && !toApi.some((path) => isLive(path)))
    return { quote, events, socket, isRouted, isGood: quote === 200 && events >= EVENTS && socket && isRouted }
  } finally {
    child.kill("SIGTERM")
    await gone
    ways.forEach(({ close }) => close())
  }
}

/** Runs each Caddyfile in front of a service of this tree. Null, with a line on standard error, where Caddy is not installed. */
export const checkCaddy = async (tree: string) => {
  const version = caddyVersion()
  if (version === null) {
    process.stderr.write("Caddy is not installed: the Caddyfiles are not checked (Debian: apt-get install caddy).\n")
    return null
  }
  if (lacksDelay(version)) {
    process.stderr.write(`Caddy ${version} does not know stream_close_delay (2.7): the files are checked without it.\n`)
  }
  const folder = mkdtempSync(join(tmpdir(), "fathom-caddy-"))
  try {
    const data = join(folder, "service")
    mkdirSync(data)
    const service = await startService(tree, data, { TRUST_PROXY: "1" })
    try {
      const files = []
      for (const name of FILES) {
        files.push({ name, ...(await checkFile(folder, name, service, version)) })
      }
      return {
        version,
        withoutStreamCloseDelay: lacksDelay(version),
        files,
        isGood: files.every(({ isGood }) => isGood)
      }
    } finally {
      await service.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
