/** What GitHub itself is to the workflow: comments of pull requests, and which of them brought a commit. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Comment {
  readonly id: number
  readonly user: { readonly login: string }
  body: string
}

export interface GitHub {
  readonly url: string
  readonly token: string
  /** Comments by pull request. */
  readonly comments: Map<number, Comment[]>
  /** The pull request that brought a commit, once it is merged. */
  readonly merged: Map<string, number>
  /** Method and path of every request but reads. */
  readonly writes: string[]
  close(): Promise<void>
}

export async function startGitHub(): Promise<GitHub> {
  const token = 'ghs_of_this_test'
  const comments = new Map<number, Comment[]>()
  const merged = new Map<string, number>()
  const writes: string[] = []
  let ids = 100

  const answer = (method: string, url: URL, body: string): [status: number, value: unknown] => {
    const route = `${method} ${url.pathname}`
    if (method !== 'GET') writes.push(route)
    const [, pull] = /issues\/(\d+)\/comments$/.exec(url.pathname) ?? []
    const [, commit] = /commits\/([0-9a-f]{40})\/pulls$/.exec(url.pathname) ?? []
    const [, id] = /issues\/comments\/(\d+)$/.exec(url.pathname) ?? []
    if (commit) {
      const number = merged.get(commit)
      return [200, number === undefined ? [] : [{ number, merged_at: '2026-01-01T00:00:00Z' }]]
    }
    if (pull && method === 'GET') {
      const [size, page] = ['per_page', 'page'].map((name) => Number(url.searchParams.get(name)))
      return [200, (comments.get(Number(pull)) ?? []).slice(size! * (page! - 1), size! * page!)]
    }
    if (pull && method === 'POST') {
      const comment = { id: ids++, user: { login: 'github-actions[bot]' }, body: JSON.parse(body).body }
      comments.set(Number(pull), [...(comments.get(Number(pull)) ?? []), comment])
      return [201, comment]
    }
    const comment = [...comments.values()].flat().find((one) => String(one.id) === id)
    if (!comment || method !== 'PATCH') return [404, { message: 'Not Found' }]
    comment.body = JSON.parse(body).body
    return [200, comment]
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url!, 'http://github.test')
    const [status, value] =
      request.headers.authorization === `Bearer ${token}` && url.pathname.startsWith('/repos/acme/infra/')
        ? answer(request.method!, url, Buffer.concat(chunks).toString())
        : [401, { message: 'Bad credentials' }]
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    comments,
    merged,
    writes,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
