import { assert, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { callAtRate } from "../../scripts/bench/cluster/load.ts"
import { assumed, capacityOf } from "../../scripts/bench/cluster/capacity.ts"
import { coresOf, costOf, type Use, useOf } from "../../scripts/bench/cluster/processes.ts"

const use = (name: string, role: string, seconds: number): Use => ({
  name,
  role,
  seconds,
  mainSeconds: seconds / 2,
  residentMb: 100
})

const parts = (api: number, other: number, database: number, valkey: number) => [
  use("api-1", "api", api),
  use("api-2", "api", other),
  use("postgresql", "postgresql", database),
  use("valkey", "valkey", valkey)
]

const answers = (count: number, seconds: number, serving = 2) => ({ role: "api", serving, count, seconds })

describe("the cost of an answer of several processes", () => {
  // Within ten seconds without callers, each process of the service takes one second.
  const quiet = coresOf(parts(5, 5, 3, 3), parts(6, 6, 4, 3), 10)

  it("is the processor time beyond that without callers, of all processes of the role", () => {
    const busy = coresOf(parts(6, 6, 4, 3), parts(8, 7.5, 5.25, 3.1), 10)
    const cost = costOf(answers(1000, 10), quiet, busy)
    assert.deepInclude(cost, {
      count: 1000,
      perSecond: 100,
      cpuUs: 1500,
      mainCpuUs: 750,
      databaseCpuUs: 250,
      valkeyCpuUs: 100,
      perCoreSecond: 667
    })
    assert.deepStrictEqual(
      cost.processes.map(({ cores, cpuUs, name }) => [name, cores, cpuUs]),
      [
        ["api-1", 0.2, 1000],
        ["api-2", 0.15, 500],
        ["postgresql", 0.125, 250],
        ["valkey", 0.01, 100]
      ]
    )
  })

  it("does not depend on the time that the answers took", () => {
    const slow = coresOf(parts(6, 6, 4, 3), parts(10, 9.5, 7.25, 3.1), 30)
    const { cpuUs, perCoreSecond, perSecond } = costOf(answers(1000, 30), quiet, slow)
    assert.deepStrictEqual([cpuUs, perCoreSecond], [1500, 667])
    assert.closeTo(perSecond, 33.3, 0.01)
  })

  it("leaves out processes of the role without callers", () => {
    const busy = coresOf(parts(6, 6, 4, 3), parts(8, 9, 5, 3), 10)
    assert.strictEqual(costOf(answers(1000, 10, 1), quiet, busy).cpuUs, 1000)
  })

  it("is null without answers, and has no rate where it cannot be seen", () => {
    const none = costOf(answers(0, 10), quiet, quiet)
    assert.deepStrictEqual([none.cpuUs, none.perCoreSecond, none.databaseCpuUs], [null, null, null])
    assert.isNull(costOf(answers(100, 10), quiet, quiet).perCoreSecond)
  })
})

describe("requests at a rate", () => {
  it("are counted where they were answered with 200, and by status all together", async () => {
    let asked = 0
    const server = createServer((_request, response) => {
      response.statusCode = ++asked % 3 === 0 ? 200 : 429
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const access = { baseUrl: `http://127.0.0.1:${port}`, secrets: ["secret"] }
    const { count, statuses } = await callAtRate(access, [{ path: "/" }], 1000, 0.009)
    server.close()
    assert.deepStrictEqual([count, statuses], [3, { 200: 3, 429: 6 }])
  })
})

describe.runIf(process.platform === "linux")("the use of a process", () => {
  it("is read from the system", () => {
    const { mainSeconds, residentMb, seconds } = useOf({ name: "own", role: "api", pids: () => [process.pid] })
    assert.isAbove(residentMb, 10)
    assert.isAbove(seconds, 0)
    assert.isAtMost(mainSeconds, seconds)
  })
})

const cost = (kind: string, cpuUs: number) => ({
  kind,
  serving: 2,
  cpuUs,
  mainCpuUs: cpuUs,
  databaseCpuUs: 100,
  valkeyCpuUs: 50
})

describe("the capacity for multiples of users", () => {
  const quiet = {
    processes: ["ingest", "api", "live", "keeper", "postgresql", "valkey"].map((role) => ({
      name: role,
      role,
      cores: 0.01,
      mainCores: 0.01,
      residentMb: 300
    }))
  }
  const measured = {
    quiet,
    api: [{ ...cost("quotes", 9e9), serving: 1 }, ...["quotes", "market", "wallets"].map((kind) => cost(kind, 1000))],
    live: ["streams", "sockets"].map((kind) => ({ ...cost(kind, 100), readers: 10, perSecond: 20 }))
  }
  const rowOf = (times: number, role: string) => capacityOf(measured, times).rows.find((row) => row.role === role)

  it("has the fewest processes of a role for few users, and more by the main thread for many", () => {
    const perSecond = (assumed.keys * assumed.requestsAMinute) / 60
    assert.strictEqual(capacityOf(measured, 1).requestsPerSecond, perSecond)
    assert.strictEqual(rowOf(1, "api")?.processes, assumed.least.api)
    const mainCores = (100 * perSecond) / 1000
    const processes = Math.ceil(mainCores / (assumed.usedShare - assumed.mainnetCores))
    assert.strictEqual(rowOf(100, "api")?.processes, processes)
    assert.closeTo(rowOf(100, "api")?.cores ?? 0, mainCores + processes * assumed.mainnetCores, 0.01)
    assert.strictEqual(rowOf(100, "ingest")?.processes, assumed.least.ingest)
  })

  it("counts frames by what a reader was sent, and the engines by every answer", () => {
    const { cores, framesPerSecond, memoryGb, monthUsd, requestsPerSecond, rows } = capacityOf(measured, 10)
    assert.strictEqual(framesPerSecond, 2 * 10 * (assumed.streams + assumed.sockets))
    const answers = requestsPerSecond + framesPerSecond
    assert.closeTo(rows.find(({ role }) => role === "postgresql")?.cores ?? 0, answers / 10_000 + 0.01, 0.01)
    const hour = cores * assumed.coreHourUsd + memoryGb * assumed.gbHourUsd
    assert.strictEqual(monthUsd, Math.round(hour * assumed.hoursAMonth))
  })

  it("fails where a kind was not measured", () => {
    assert.throws(() => capacityOf({ ...measured, api: [] }, 1), /nothing is measured of quotes/u)
  })
})
