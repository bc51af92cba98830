import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize } from "node:path"
import { folders, orderedFolders, packages, schemaReaders } from "./support/rooms.ts"

const folderOf = (file: string) => file.split("/")[1] ?? ""

const importsOf = (file: string) =>
  Array.from(readFileSync(file, "utf8").matchAll(/(?:from |import |import\()"([^"]+)"/g), ([, path]) => path ?? "")

const allows = (from: string, file: string, path: string) => {
  // The pages show documents of docs/ as they are.
  if (from === "web" && /^(?:\.\.\/)+docs\/(?:(?:coming-from|guides)\/)?[\w-]+\.md\?raw$/u.test(path)) {
    return true
  }
  if (path.startsWith(".")) {
    const target = normalize(join(dirname(file), path))
    const to = folderOf(target)
    const isSchema = target.startsWith("src/api/schemas/") && schemaReaders.includes(from)
    return from === to || folders[from]?.includes(to) === true || isSchema
  }
  const name = path.startsWith("@") ? path.split("/").slice(0, 2).join("/") : path
  return packages[name]?.includes(from) === true
}

describe("the import table", () => {
  it.each(globSync("src/**/*.{ts,tsx}"))("holds for %s", (file) => {
    const broken = importsOf(file).filter((path) => !allows(folderOf(file), file, path))
    assert.deepStrictEqual(broken, [], `${file} imports what ${folderOf(file)} may not`)
  })
})

/** The files that each file of src/ imports, type imports included. */
const graph: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  globSync("src/**/*.{ts,tsx}").map((file) => [
    file,
    importsOf(file).flatMap((path) => (path.startsWith(".") ? [normalize(join(dirname(file), path))] : []))
  ])
)

/** The files that are reached from this one, itself only through a circle. */
const reachedFrom = (start: string): ReadonlySet<string> => {
  const reached = new Set<string>()
  const open = [...(graph.get(start) ?? [])]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (!reached.has(file)) {
      reached.add(file)
      open.push(...(graph.get(file) ?? []))
    }
  }
  return reached
}

/** A port and its own memory layer may name each other: `FollowStore.ts` and `memoryFollows.ts`. */
const isMemoryPair = ([a = "", b = "", ...more]: ReadonlyArray<string>): boolean =>
  more.length === 0 && [a, b].some((file) => basename(file).startsWith("memory"))

describe("imports", () => {
  it("form no circle, types counted, except between a port and its memory layer", () => {
    const inCircle = [...graph.keys()].filter((file) => reachedFrom(file).has(file))
    const circles = Map.groupBy(inCircle, (file) =>
      inCircle.filter((other) => reachedFrom(file).has(other) && reachedFrom(other).has(file)).join(" ")
    )
    assert.deepStrictEqual(
      [...circles.values()].filter((files) => !isMemoryPair(files)),
      []
    )
  })
})

describe("the simulator", () => {
  const importers = globSync("src/**/*.{ts,tsx}").filter((file) =>
    importsOf(file).some(
      (path) => path.startsWith(".") && folderOf(normalize(join(dirname(file), path))) === "simulator"
    )
  )

  it("is known to itself, to the composition of upstreams and to src/testing alone", () => {
    const others = importers.filter((file) => !["simulator", "testing"].includes(folderOf(file)))
    assert.sameMembers(others, ["src/app/Simulated.ts", "src/app/Upstreams.ts"])
  })

  it("uses the ports of capabilities in its demo data alone", () => {
    const reaching = globSync("src/simulator/**/*.ts").filter(
      (file) =>
        !file.startsWith("src/simulator/seed/") &&
        importsOf(file).some((path) => {
          const to = folderOf(normalize(join(dirname(file), path)))
          return path.startsWith(".") && !["api", "chain", "domain", "programs", "simulator"].includes(to)
        })
    )
    assert.deepStrictEqual(reaching, [])
  })
})

/** Each arrow between two folders of one room, as `from > to`. */
const folderArrows: ReadonlySet<string> = new Set(
  [...graph].flatMap(([file, targets]) =>
    targets
      .filter((target) => folderOf(target) === folderOf(file) && dirname(target) !== dirname(file))
      .map((target) => `${dirname(file)} > ${dirname(target)}`)
  )
)

describe("the folders inside a room", () => {
  it("never import each other", () => {
    const mutual = [...folderArrows].filter((arrow) => {
      const [from = "", to = ""] = arrow.split(" > ")
      return from < to && folderArrows.has(`${to} > ${from}`)
    })
    assert.deepStrictEqual(mutual, [])
  })

  it.each(Object.entries(orderedFolders))("import only from folders to their left in %s", (room, order) => {
    const found = new Set(globSync(`src/${room}/*/*.{ts,tsx}`).map((file) => basename(dirname(file))))
    assert.sameMembers([...found], [...order])
    const upward = [...folderArrows].filter((arrow) => {
      const [from = "", to = ""] = arrow.split(" > ")
      return from.startsWith(`src/${room}/`) && order.indexOf(basename(from)) < order.indexOf(basename(to))
    })
    assert.deepStrictEqual(upward, [])
  })

  it("are three deep at most", () => {
    assert.deepStrictEqual(globSync("src/*/*/*/**/*.ts"), [])
  })
})

const staticImports = (file: string) =>
  Array.from(
    readFileSync(file, "utf8").matchAll(/^(?:import|export|\}) (?!type).*from "(\.[^"]+)"/gmu),
    ([, path = ""]) => normalize(join(dirname(file), path))
  )

/** These files and all that they load. */
const loadedWith = (...files: ReadonlyArray<string>): ReadonlySet<string> => {
  const loaded = new Set(files)
  // A set also visits what is added meanwhile.
  for (const file of loaded) {
    staticImports(file).forEach((path) => loaded.add(path))
  }
  return loaded
}

const importsClient = (file: string) =>
  /^import (?!type).*from "(?:@effect\/platform-node(?:\/NodeRedis)?|redis)"/mu.test(readFileSync(file, "utf8"))

describe("a service that shares nothing", () => {
  it("loads of Valkey its settings and its port alone", () => {
    const loaded = [...loadedWith("src/main.ts", "src/app/App.ts", "src/app/Simulated.ts")]
    assert.deepStrictEqual(
      loaded.filter((file) => file.includes("alkey")),
      ["src/storage/valkey/Valkey.ts"]
    )
    assert.deepStrictEqual(loaded.filter(importsClient), [])
    assert.isTrue(importsClient("src/storage/valkey/ValkeyRedis.ts"))
  })
})

describe("a service without ClickHouse", () => {
  it("loads of it its settings and its port alone", () => {
    const loaded = [...loadedWith("src/main.ts", "src/app/App.ts", "src/app/Simulated.ts")]
    assert.deepStrictEqual(
      loaded.filter((file) => file.toLowerCase().includes("clickhouse")),
      ["src/storage/clickhouse/ClickHouse.ts"]
    )
    assert.include(importsOf("src/storage/clickhouse/ClickHouseHttp.ts"), "@clickhouse/client")
    assert.notInclude(loaded.flatMap(importsOf), "@clickhouse/client")
  })
})

const importsGrpc = (file: string) => importsOf(file).some((path) => path.startsWith("@grpc/"))

describe("a service without a Geyser", () => {
  it("loads nothing of gRPC", () => {
    const loaded = loadedWith("src/main.ts", "src/app/App.ts", "src/app/Simulated.ts", "src/simulator/Simulator.ts")
    assert.includeMembers([...loaded], ["src/chain/geyser/GeyserSlots.ts", "src/chain/geyser/ChainFeedGeyser.ts"])
    assert.deepStrictEqual([...loaded].filter(importsGrpc), [])
    assert.isTrue(importsGrpc("src/chain/geyser/geyserStream.ts"))
  })
})

describe("a service that proves nothing", () => {
  it("loads no execution of swaps, and LiteSVM is named by the thread of proofs alone", () => {
    const loaded = [...loadedWith("src/main.ts", "src/app/App.ts", "src/app/Simulated.ts")]
    assert.include(loaded, "src/quotes/execution/ProgramWatch.ts")
    assert.deepStrictEqual(
      loaded.filter((file) =>
        /execution\/(?:programRuntime|proofWorker|provePool|traderAccounts|decodeFixture)\.ts$/u.test(file)
      ),
      []
    )
    const naming = globSync("src/**/*.ts").filter((file) => readFileSync(file, "utf8").includes('("litesvm")'))
    assert.deepStrictEqual(naming, ["src/quotes/execution/programRuntime.ts"])
    assert.notInclude([...loadedWith("src/app/Proofs.ts")], "src/quotes/execution/programRuntime.ts")
  })
})

describe("a command", () => {
  const loaded = loadedWith("src/main.ts")

  it("loads the keys, and neither the service nor the simulator before one is needed", () => {
    assert.include([...loaded], "src/access/KeyStorePg.ts")
    const heavy = new Set(["http", "simulator", "market", "programs", "api"])
    assert.deepStrictEqual(
      [...loaded].filter((file) => heavy.has(folderOf(file)) && !file.startsWith("src/api/schemas/")),
      []
    )
  })
})
