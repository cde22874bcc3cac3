import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { type TvcAppRow, tvcAppTable } from './store.ts'

/** Reads an app, or throws. */
export async function requireTvcApp(
  { tx, organizationId }: Pick<HandlerContext, 'tx' | 'organizationId'>,
  id: string,
): Promise<TvcAppRow> {
  const app = await tvcAppTable.find(tx, organizationId, id)
  if (!app) throw apiError('notFound', 'TVC app', id)
  return app
}
