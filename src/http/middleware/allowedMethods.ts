import { FindMyWay, type HttpRouter } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

type Path = Exclude<HttpRouter.PathInput, "*">

const isPath = (path: string): path is Path => path.startsWith("/")

/** How paths are matched: one spelling each, and a parameter as long as a URL may be, so that an endpoint refuses it. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 8192
}

/**
 * Which methods find something at a URL, in the order of the `Allow` header; empty where nothing is. `pages` are paths
 * outside the contract that answer GET.
 */
export const allowedMethods = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  pages: ReadonlyArray<Path>
): ((url: string) => ReadonlyArray<string>) => {
  const table = FindMyWay.make<true>(routerConfig)
  const methods = new Set<string>(["GET"])
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      if (isPath(endpoint.path)) {
        methods.add(endpoint.method)
        table.on(endpoint.method, endpoint.path, true)
      }
    }
  })
  for (const page of pages) {
    table.on("GET", page, true)
  }
  return (url) => {
    const found = Array.from(methods).filter((method) => table.find(method, url) !== undefined)
    const reads = found.includes("GET") ? ["HEAD"] : []
    return found.length === 0 ? [] : [...found, ...reads, "OPTIONS"]
  }
}
