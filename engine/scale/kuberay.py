"""The file of a KubeRay RayService: Ray Serve runs vLLM on the cards of a Kubernetes cluster."""

from typing import Any

from engine.scale import script, vllm
from engine.scale.cluster import SHARE
from engine.scale.manifest_text import label, yaml_text
from engine.scale.order import ServerOrder

RAY = "2.52.0"
IMAGE = f"rayproject/ray-llm:{RAY}-py311-cu128"
SECRET = "hf-token"
GIB = 2**30


def service(order: ServerOrder) -> dict[str, Any]:
    """Return the RayService: a head without cards, and one worker with all its cards for each machine."""
    layout = order.layout
    cards = layout.cards // layout.nodes
    memory = f"{16 + order.target.outline.nbytes // layout.nodes // GIB}Gi"  # the files pass through RAM
    worker = {"cpu": str(4 * cards + 4), "memory": memory, "nvidia.com/gpu": str(cards)}
    token = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": SECRET, "key": "hf_token"}}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayService",
        "metadata": {"name": label(order.served)},
        "spec": {
            "serveConfigV2": yaml_text({"applications": [_application(order)]}),
            "rayClusterConfig": {
                "rayVersion": RAY,
                "headGroupSpec": {
                    "rayStartParams": {"num-cpus": "0", "num-gpus": "0"},
                    "template": _pod("ray-head", {"cpu": "2", "memory": "8Gi"}, ports=_ports()),
                },
                "workerGroupSpecs": [
                    {
                        "groupName": "cards",
                        "replicas": layout.nodes,
                        "minReplicas": layout.nodes,
                        "maxReplicas": layout.nodes,
                        "rayStartParams": {"num-gpus": str(cards)},
                        "template": _pod("ray-worker", worker, env=[token] if order.target.gated else []),
                    }
                ],
            },
        },
    }


def _application(order: ServerOrder) -> dict[str, Any]:
    target, layout = order.target, order.layout
    arguments: dict[str, Any] = {
        "revision": target.revision,
        "max_model_len": order.context,
        "gpu_memory_utilization": SHARE,
        "tensor_parallel_size": layout.tensor,
        "pipeline_parallel_size": layout.pipeline,
        "speculative_config": vllm.speculative_config(order),
    }
    return {
        "name": "llm",
        "import_path": "ray.serve.llm:build_openai_app",
        "route_prefix": "/",
        "args": {
            "llm_configs": [
                {
                    "model_loading_config": {"model_id": order.served, "model_source": target.place},
                    "engine_kwargs": {name: value for name, value in arguments.items() if value},
                    "deployment_config": {"autoscaling_config": {"min_replicas": 1, "max_replicas": 1}},
                }
            ]
        },
    }


def _pod(
    name: str,
    resources: dict[str, str],
    ports: list[dict[str, Any]] | None = None,
    env: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    container: dict[str, Any] = {"name": name, "image": IMAGE}
    if ports:
        container["ports"] = ports
    if env:
        container["env"] = env
    container["resources"] = {"limits": resources, "requests": resources}
    # Processes of one worker exchange tensors in shared memory, of which a pod has 64 MiB without this.
    container["volumeMounts"] = [{"name": "shared-memory", "mountPath": "/dev/shm"}]
    volume = {"name": "shared-memory", "emptyDir": {"medium": "Memory"}}
    return {"spec": {"containers": [container], "volumes": [volume]}}


def _ports() -> list[dict[str, Any]]:
    numbers = {"serve": 8000, "metrics": 8080, "gcs": 6379, "dashboard": 8265, "client": 10001}
    return [{"name": name, "containerPort": number} for name, number in numbers.items()]


def text(order: ServerOrder) -> str:
    name = label(order.served)
    usage = ["KubeRay's operator must run in the cluster. Ray Serve asks for no key: keep it inside."]
    if order.target.gated:
        usage.append(f"kubectl create secret generic {SECRET} --from-literal=hf_token=YOUR_TOKEN")
    usage += [f"kubectl apply -f {name}.yaml", f"kubectl port-forward service/{name}-serve-svc 8000"]
    return script.comments(usage) + yaml_text(service(order))
