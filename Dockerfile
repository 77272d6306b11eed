# The service: API, workers and the CPU engine. vLLM runs from its own image, it pins another FastAPI.
FROM python:3.13-slim AS packages

# The CPU build of torch by default; TORCH_INDEX= (empty) takes the CUDA build for a GPU trainer.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

RUN useradd --uid 1000 --create-home rft && mkdir /cache /data /run/agent-rft && \
    chown rft /cache /data /run/agent-rft
WORKDIR /src
COPY constraints/build.txt constraints/torch.txt constraints/service.txt constraints/
RUN pip install --no-cache-dir --no-deps --require-hashes -r constraints/build.txt && \
    pip install --no-cache-dir --no-deps --require-hashes \
      ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -r constraints/torch.txt && \
    if [ -z "$TORCH_INDEX" ]; then pip install --no-cache-dir torch==2.13.0; fi && \
    pip install --no-cache-dir --no-deps \
      --require-hashes --no-build-isolation -r constraints/service.txt

# The pages that the service serves at /docs; their builder stays out of the image.
FROM packages AS pages
COPY constraints/docs.txt constraints/
RUN pip install --no-cache-dir --no-deps --require-hashes -r constraints/docs.txt
COPY docs docs
COPY examples examples
COPY openapi/DEVIATIONS.md openapi/
COPY CHANGELOG.md SECURITY.md ./
# The page of options is made from the models of the API.
COPY app app
RUN python -m docs.site.build site

FROM packages
COPY pyproject.toml README.md ./
COPY app app
COPY workers workers
COPY migrations migrations
COPY openapi/openapi.json openapi/
COPY --from=pages /src/site app/pages/site
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

USER rft
WORKDIR /data
ENV PYTHONUNBUFFERED=1 XDG_CACHE_HOME=/cache
EXPOSE 8000
CMD ["uvicorn", "app.main:create_app", "--factory", "--http", "app.http.protocol:Protocol", "--loop", "asyncio", "--host", "0.0.0.0", "--port", "8000"]
