/** A Git repository that people commit to, and a server of it on this machine: `git http-backend` behind a listener. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Repository {
  readonly url: string
  /** The folder that the server serves. */
  readonly bare: string
  /** Its working tree, where tests commit. */
  readonly tree: string
  /** Makes an SSH key; its line of an allowed signers file. */
  signer(name: string): string
  /** Commits files on the branch, signed with the key of a signer unless `by` is absent, pushes it, and returns its id. */
  commit(files: Readonly<Record<string, string>>, options?: { readonly by?: string; readonly force?: boolean }): string
  git(...args: string[]): string
  /** The requests that were made, with their Authorization. */
  readonly requests: { readonly url: string; readonly authorization: string | undefined }[]
  /** What the server answers instead. */
  answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
}

/** Makes one with an empty branch `main`. */
export async function startRepository(folder: string): Promise<Repository> {
  const [tree, bare, keys] = ['tree', 'served/acme.git', 'keys'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const one of [tree, bare, keys]) mkdirSync(one, { recursive: true, mode: 0o700 })
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@acme.test',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@acme.test',
  }
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: tree, env, encoding: 'utf8', stdio: 'pipe' }).trim()
  git('init', '--quiet', '--bare', bare)
  git('init', '--quiet', '--initial-branch', 'main')
  const repository: Repository = {
    url: '',
    bare,
    tree,
    requests: [],
    answer: undefined,
    git,
    signer(name) {
      const path = join(keys, name)
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path], { stdio: 'pipe' })
      return `${name} namespaces="git" ${readFileSync(`${path}.pub`, 'utf8')}`
    },
    commit(files, { by, force } = {}) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(tree, name)), { recursive: true })
        writeFileSync(join(tree, name), text)
      }
      git('add', '--all')
      const signing = by === undefined ? [] : ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${join(keys, by)}`]
      git(...signing, 'commit', '--quiet', '--allow-empty', ...(by === undefined ? [] : ['-S']), '--message', 'm')
      git('push', '--quiet', ...(force ? ['--force'] : []), bare, 'HEAD:refs/heads/main')
      return git('rev-parse', 'HEAD')
    },
  }
  const server = createServer((request, response) => {
    repository.requests.push({ url: request.url ?? '', authorization: request.headers.authorization })
    if (repository.answer?.(request, response)) return
    const { pathname, search } = new URL(request.url ?? '', 'http://127.0.0.1')
    const child = spawn('git', ['http-backend'], {
      env: {
        ...env,
        GIT_PROJECT_ROOT: join(folder, 'served'),
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers['content-type'],
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
        GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
      },
    })
    request.pipe(child.stdin)
    const parts: Buffer[] = []
    child.stdout.on('data', (part) => parts.push(part))
    child.on('close', () => {
      const whole = Buffer.concat(parts)
      const end = whole.indexOf('\r\n\r\n')
      const headers = whole
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((row) => row.split(': ') as [string, string])
      const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200'
      response.writeHead(Number(status.slice(0, 3)), Object.fromEntries(headers.filter(([name]) => name !== 'Status')))
      response.end(whole.subarray(end + 4))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return Object.assign(repository, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme.git` })
}
