import { FindMyWay, type HttpRouter } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

type Path = Exclude<HttpRouter.PathInput, "*">

const isPath = (path: string): path is Path => path.startsWith("/")

/** Router settings: exact spelling, and parameters as long as a URL may be, because the endpoint validates them. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 8192
}

/**
 * Returns a function from a URL to the methods of its route, in the order of the `Allow` header; empty without a route.
 * `pages` are paths outside the contract that answer GET.
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
