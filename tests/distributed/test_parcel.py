import torch

from rankwise.distributed.parcel import Parcel, unpack

KINDS = (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool)


def test_parcels_come_out_as_they_went_in():
    columns = {str(kind): (torch.arange(6).reshape(3, 2) % 2).to(kind).T for kind in KINDS}
    columns["empty"], columns["one"] = torch.zeros(0, 5), torch.ones(3, dtype=torch.bool)
    columns |= {f"expanded {n}": torch.tensor(3).expand(n) for n in range(3)}
    parcels = [
        Parcel({"words": "ℓ ≥ 0", "yes": True, "none": None}, columns),
        Parcel({}, {}),
        Parcel({"words": ""}, {"scores": torch.randn(7)}),
    ]
    received = list(unpack(torch.cat([p.packed(torch.device("cpu")) for p in parcels])))
    assert [p.facts for p in received] == [p.facts for p in parcels]
    for got, sent in zip(received, parcels, strict=True):
        assert list(got.columns) == list(sent.columns)
        for name, column in sent.columns.items():
            assert got.columns[name].dtype == column.dtype
            assert torch.equal(got.columns[name], column)
