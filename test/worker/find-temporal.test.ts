import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cacheFolder, findTemporal, TEMPORAL_VERSION } from '../../src/worker/index.ts'

let home = ''
let said: string[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'quorate-find-'))
  said = []
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const announce = (message: string) => void said.push(message)
const noDownload = async () => new Response('', { status: 403 })
const environment = (...folders: string[]) => ({ HOME: home, PATH: folders.join(':') })

function program(folder: string, name: string, script: string): string {
  mkdirSync(join(home, folder), { recursive: true })
  const path = join(home, folder, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

describe('temporal binary: the order in which it is looked for', () => {
  test('the PATH comes first, and nothing is said', async () => {
    const onPath = program('bin', 'temporal', 'true')
    program(`.cache/quorate/temporal-${TEMPORAL_VERSION}`, 'temporal', 'true')
    expect(
      await findTemporal({ announce, environment: environment('/nowhere', join(home, 'bin')), fetch: noDownload }),
    ).toBe(onPath)
    expect(said).toEqual([])
  })

  test('then the cache folder, which XDG_CACHE_HOME moves', async () => {
    const cached = program(`elsewhere/quorate/temporal-${TEMPORAL_VERSION}`, 'temporal', 'true')
    const found = await findTemporal({
      announce,
      environment: { ...environment(), XDG_CACHE_HOME: join(home, 'elsewhere') },
      fetch: noDownload,
    })
    expect(found).toBe(cached)
  })

  test('then a download, which is kept in the cache', async () => {
    const made = program('made', 'temporal', 'echo downloaded')
    execFileSync('tar', ['-czf', join(home, 'archive.tar.gz'), '-C', join(home, 'made'), 'temporal'])
    const asked: string[] = []
    const fetch = async (input: string | URL | Request) => {
      asked.push(String(input))
      if (asked.length === 1)
        return Response.json({ archiveUrl: 'https://archives.test/a.tar.gz', fileToExtract: 'temporal' })
      return new Response(readFileSync(join(home, 'archive.tar.gz')))
    }
    const found = await findTemporal({ announce, environment: { HOME: home, PATH: process.env.PATH }, fetch })
    expect(found).toBe(join(cacheFolder({ HOME: home }), 'temporal'))
    expect(readFileSync(found)).toEqual(readFileSync(made))
    expect(asked).toHaveLength(2)
    expect(said.join('\n')).toContain('downloading')
  })

  test('then a build from source into the cache', async () => {
    program('bin', 'go', 'echo "$@" > "$HOME/arguments"; printf "#!/bin/sh\\n" > "$GOBIN/temporal"')
    const path = `${join(home, 'bin')}:/usr/bin:/bin`
    const found = await findTemporal({ announce, environment: { HOME: home, PATH: path }, fetch: noDownload })
    expect(found).toBe(join(cacheFolder({ HOME: home }), 'temporal'))
    expect(readFileSync(join(home, 'arguments'), 'utf8').trim()).toBe(
      `install github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_VERSION}`,
    )
    expect(said.join('\n')).toMatch(/building .* five minutes/)
  })

  test('then an error that lists what was tried', async () => {
    program('bin', 'go', 'echo "no network" >&2; exit 1')
    const fault = findTemporal({
      announce,
      environment: { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin` },
      fetch: noDownload,
    })
    await expect(fault).rejects.toMatchObject({
      code: 'worker/temporal-missing',
      facts: {
        PATH: 'no `temporal` on the PATH',
        cache: expect.stringContaining('nothing at'),
        download: 'temporal.download answered with status 403',
        'go install': 'go install failed: no network',
      },
    })
  })

  test('a download place that does not answer is left soon', async () => {
    const silent = (_: unknown, init?: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason))
      })
    const fault = findTemporal({
      announce,
      environment: environment(),
      fetch: silent as typeof fetch,
      downloadMs: { answer: 20, whole: 20 },
    })
    await expect(fault).rejects.toMatchObject({ facts: { download: expect.stringContaining('no download') } })
  })
})
