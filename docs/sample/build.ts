/**
 * Build: `npx node docs/sample/build.ts [bootstrap.json] [FOLDER]` writes the sample app into a folder, as one page that any
 * web server can serve. It knows the addresses and public keys of the service whose file it is given, and nothing else.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** What a page may know of a service. The file has the root user's private key too, which stays there. */
export interface PublicFacts {
  readonly baseUrl: string
  readonly organizationId: string
  readonly authProxyUrl?: string
  readonly authProxyConfigId: string
  readonly signerPublicKey: string
  readonly notarizerPublicKey: string
  readonly tlsFetcherPublicKey: string
  readonly tlsFetcherEncryptionPublicKey: string
}

/** The published client has the keys of the public service as constants of one module; another service has others. */
const pinned = {
  PRODUCTION_SIGNER_SIGN_PUBLIC_KEY: 'signerPublicKey',
  PRODUCTION_NOTARIZER_SIGN_PUBLIC_KEY: 'notarizerPublicKey',
  PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY: 'tlsFetcherPublicKey',
  PRODUCTION_TLS_FETCHER_ENCRYPT_PUBLIC_KEY: 'tlsFetcherEncryptionPublicKey',
} as const

/** Builds the published clients with the keys of this service in the place of those that they pin. */
export function pinKeysOf(facts: PublicFacts): Plugin {
  return {
    name: 'pin-keys',
    setup(bundle) {
      bundle.onLoad({ filter: /@turnkey[\\/]crypto[\\/]dist[\\/]constants\.m?js$/ }, ({ path }) => {
        let contents = readFileSync(path, 'utf8')
        for (const [name, fact] of Object.entries(pinned)) {
          const declaration = new RegExp(`(const ${name} = )"[0-9a-f]{130}"`)
          if (!declaration.test(contents)) throw new Error(`${path} pins no ${name}: is it a newer client?`)
          contents = contents.replace(declaration, `$1"${facts[fact]}"`)
        }
        return { contents, loader: 'js' }
      })
    },
  }
}

/** Bundles a module for browsers, with what it may know of a service as `SERVICE`. */
export async function bundleFor(entry: string, facts: PublicFacts): Promise<string> {
  const { baseUrl, organizationId, authProxyUrl, authProxyConfigId } = facts
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: {
      global: 'globalThis',
      SERVICE: JSON.stringify({ baseUrl, organizationId, authProxyUrl, authProxyConfigId }),
    },
    // What the client wants in phones alone.
    external: [
      'react-native',
      'react-native-keychain',
      '@react-native-async-storage/async-storage',
      '@turnkey/react-native-passkey-stamper',
    ],
    plugins: [pinKeysOf(facts)],
    logLevel: 'warning',
  })
  return outputFiles[0]!.text
}

/** The page, with its script in it. */
export async function buildPage(facts: PublicFacts): Promise<string> {
  const script = await bundleFor(join(import.meta.dirname, 'app.mjs'), facts)
  const page = readFileSync(join(import.meta.dirname, 'index.html'), 'utf8')
  return page.replace('<script type="module" src="app.mjs"></script>', () => `<script type="module">${script}</script>`)
}

if (import.meta.main) {
  const [bootstrap = '.quorate/service/bootstrap.json', folder = '.quorate/sample'] = process.argv.slice(2)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'index.html')
  writeFileSync(path, await buildPage(JSON.parse(readFileSync(bootstrap, 'utf8'))))
  process.stdout.write(`wrote ${path}\n`)
}
