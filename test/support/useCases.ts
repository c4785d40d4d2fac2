/** Use cases over their stores in PostgreSQL, for tests that need only one of them; each asks for the owner's client. */
import { Trash } from "@data-cabinet/core/event/Trash"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as PgTrashStore from "@data-cabinet/store-pg/event/PgTrashStore"
import * as PgAccessTokenStore from "@data-cabinet/store-pg/key/PgAccessTokenStore"
import * as PgApiKeyStore from "@data-cabinet/store-pg/key/PgApiKeyStore"
import * as PgSchemaGrantStore from "@data-cabinet/store-pg/row/PgSchemaGrantStore"
import * as PgSearchIndexStore from "@data-cabinet/store-pg/row/PgSearchIndexStore"
import * as PgSourceColumnStore from "@data-cabinet/store-pg/row/PgSourceColumnStore"
import * as PgSourceStore from "@data-cabinet/store-pg/source/PgSourceStore"
import { Layer } from "effect"

export const sourcesLayer = Sources.layer.pipe(Layer.provide(PgSourceStore.layer))
export const apiKeysLayer = ApiKeys.layer.pipe(Layer.provide(PgApiKeyStore.layer))
export const accessTokensLayer = AccessTokens.layer.pipe(Layer.provide(PgAccessTokenStore.layer))
export const trashLayer = Trash.layer.pipe(Layer.provide(PgTrashStore.layer))
export const sourceColumnsLayer = SourceColumns.layer.pipe(Layer.provide(PgSourceColumnStore.layer))
export const schemaGrantsLayer = SchemaGrants.layer.pipe(Layer.provide(PgSchemaGrantStore.layer))
export const searchIndexLayer = SearchIndex.layer.pipe(Layer.provide(PgSearchIndexStore.layer))
