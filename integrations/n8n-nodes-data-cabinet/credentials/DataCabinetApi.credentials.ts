import type { IAuthenticateGeneric, ICredentialTestRequest, ICredentialType, INodeProperties } from "n8n-workflow"

/** The address of a cabinet and what opens its read API: an access token or an API key. */
export class DataCabinetApi implements ICredentialType {
  name = "dataCabinetApi"

  displayName = "Data Cabinet API"

  documentationUrl = "https://docs.example.com/api"

  icon = { light: "file:../icons/dataCabinet.svg", dark: "file:../icons/dataCabinet.dark.svg" } as const

  properties: INodeProperties[] = [
    {
      displayName: "Base URL",
      name: "baseUrl",
      type: "string",
      default: "",
      placeholder: "https://data.example.com",
      description: "The address of the cabinet, with its path if it has one",
      required: true,
    },
    {
      displayName: "Access Token or API Key",
      name: "apiKey",
      type: "string",
      typeOptions: { password: true },
      default: "",
      description:
        "An access token with the role viewer (cabinet token add n8n --role viewer). An API key works as well, except for reading a single event.",
      required: true,
    },
  ]

  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{$credentials.apiKey}}" } },
  }

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}',
      url: "/api/v1/sources",
    },
  }
}
