// node front.mjs CHDB_FOLDER DATA_FOLDER PORT [CONFIG_FILE]: the HTTP interface of ClickHouse in front of the engine itself, for code that uses
// its client. It has no users, compression, sessions or cancelled queries. Statements run one after the other.
import { rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:http"
import { join } from "node:path"

const [engine, folder, port, config] = process.argv.slice(2)
const { Session } = createRequire(join(engine, "index.js"))("chdb")
const given = config === undefined ? {} : { connectionArgs: [`--config-file=${config}`] }
const session = new Session(join(folder, "data"), given)
session.query("CREATE DATABASE IF NOT EXISTS fathom")
session.query("USE fathom")

const OWN = new Set(["query", "database", "query_id", "session_id", "default_format", "wait_end_of_query"])
const literal = (value) => (/^-?\d+(\.\d+)?$/.test(value) ? value : `'${value.replaceAll("'", "\\'")}'`)

let turn = Promise.resolve()
const inTurn = (work) => (turn = turn.then(work, work))

let files = 0
const run = async (statement, body, settings) => {
  const [, text, format] = /^([^]*?)(?:\s+FORMAT\s+(\w+))?\s*;?\s*$/i.exec(statement)
  if (/^\s*insert\b/i.test(text) && body.length > 0) {
    const file = join(folder, `insert-${files++}.bin`)
    writeFileSync(file, body)
    try {
      const names = settings === "" ? "" : ` SETTINGS ${settings}`
      await session.queryAsync(`${text}${names} SELECT * FROM file('${file}', '${format}')`)
    } finally {
      rmSync(file)
    }
    return Buffer.alloc(0)
  }
  const isPlain = !/^\s*(select|with)\b/i.test(text)
  const result = await session.queryAsync(isPlain || settings === "" ? text : `${text} SETTINGS ${settings}`, {
    format: format ?? "TabSeparated"
  })
  return Buffer.from(result.bytes())
}

const server = createServer((request, response) => {
  const parts = []
  request.on("data", (part) => parts.push(part))
  request.on("end", () => {
    const url = new URL(request.url, "http://front")
    const body = Buffer.concat(parts)
    const given = url.searchParams.get("query")
    const settings = [...url.searchParams]
      .filter(([name]) => !OWN.has(name))
      .map(([name, value]) => `${name} = ${literal(value)}`)
      .join(", ")
    const work = () =>
      run(given ?? body.toString(), given === null ? Buffer.alloc(0) : body, settings).then(
        (bytes) => response.end(bytes),
        (cause) => {
          const message = String(cause.message).replace("Query failed: ", "")
          response.writeHead(500, { "X-ClickHouse-Exception-Code": /Code: (\d+)/.exec(message)?.[1] ?? "0" })
          response.end(message)
        }
      )
    inTurn(work)
  })
})
// Longer than any client keeps a connection.
server.keepAliveTimeout = 60_000
server.listen(Number(port), "127.0.0.1", () => process.stdout.write(`ready ${server.address().port}\n`))
