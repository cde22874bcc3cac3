/**
 * Makes the certificates of a Temporal server that runs elsewhere, such as in a container, and of its clients, unless good
 * ones stand there: `node make-certificates.js FOLDER HOST…`.
 */
import { ensureCertificates } from './certificate-files.ts'

const [folder, ...hosts] = process.argv.slice(2)
if (folder === undefined || hosts.length === 0) {
  process.stderr.write('expected a folder and the names of the hosts at which the server is reached\n')
  process.exit(1)
}
await ensureCertificates(folder, { hosts })
